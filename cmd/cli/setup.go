package cli

import "github.com/spf13/cobra"

func (s *shell) setupCommand() *cobra.Command {
	return s.group(&cobra.Command{Use: "setup", Hidden: true})
}
