package cli

import "github.com/spf13/cobra"

func (s *shell) verifyCommand() *cobra.Command {
	return s.group(&cobra.Command{Use: "verify", Hidden: true})
}
