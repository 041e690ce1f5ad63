package cli

import "github.com/spf13/cobra"

func (s *shell) remindersCommand() *cobra.Command {
	return s.group(&cobra.Command{Use: "reminders", Short: "Things to do later", Hidden: true})
}
