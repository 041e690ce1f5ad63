package cli

import "github.com/spf13/cobra"

func (s *shell) gapsCommand() *cobra.Command {
	return s.group(&cobra.Command{Use: "gaps", Hidden: true})
}
