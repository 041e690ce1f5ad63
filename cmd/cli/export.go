package cli

import "github.com/spf13/cobra"

func (s *shell) exportCommand() *cobra.Command {
	return s.group(&cobra.Command{Use: "export", Hidden: true})
}
