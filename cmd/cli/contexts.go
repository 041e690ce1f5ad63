package cli

import "github.com/spf13/cobra"

func (s *shell) contextCommand() *cobra.Command {
	return s.group(&cobra.Command{Use: "context", Short: "What an agent should know for a task, within a budget of tokens", Hidden: true})
}
