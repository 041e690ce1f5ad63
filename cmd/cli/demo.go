package cli

import "github.com/spf13/cobra"

func (s *shell) demoCommand() *cobra.Command {
	return s.group(&cobra.Command{Use: "demo", Hidden: true})
}
