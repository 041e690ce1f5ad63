package cli

import "github.com/spf13/cobra"

func (s *shell) sessionsCommand() *cobra.Command {
	return s.group(&cobra.Command{Use: "sessions", Short: "Stretches of an agent's work, and what they hand over", Hidden: true})
}
