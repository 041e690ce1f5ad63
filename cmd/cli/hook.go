package cli

import "github.com/spf13/cobra"

func (s *shell) hookCommand() *cobra.Command {
	return s.group(&cobra.Command{Use: "hook", Hidden: true})
}
