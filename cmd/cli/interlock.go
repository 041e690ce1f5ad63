package cli

import "github.com/spf13/cobra"

func (s *shell) interlockCommand() *cobra.Command {
	return s.group(&cobra.Command{Use: "interlock", Hidden: true})
}
