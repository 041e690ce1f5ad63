package cli

import "github.com/spf13/cobra"

func (s *shell) restoreCommand() *cobra.Command {
	return s.group(&cobra.Command{Use: "restore", Hidden: true})
}
