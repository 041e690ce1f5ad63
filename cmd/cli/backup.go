package cli

import "github.com/spf13/cobra"

func (s *shell) backupCommand() *cobra.Command {
	return s.group(&cobra.Command{Use: "backup", Hidden: true})
}
