package cli

import "github.com/spf13/cobra"

func (s *shell) proceduresCommand() *cobra.Command {
	return s.group(&cobra.Command{Use: "procedures", Short: "Steps that worked, to be gone through again", Hidden: true})
}
