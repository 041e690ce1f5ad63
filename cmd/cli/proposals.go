package cli

import "github.com/spf13/cobra"

func (s *shell) proposalsCommand() *cobra.Command {
	return s.group(&cobra.Command{Use: "proposals", Short: "What transcripts propose to remember", Hidden: true})
}
