package cli

import "github.com/spf13/cobra"

func (s *shell) eventsCommand() *cobra.Command {
	return s.group(&cobra.Command{Use: "events", Hidden: true})
}
