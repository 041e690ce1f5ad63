package cli

import (
	"context"
	"encoding/json"

	"github.com/spf13/cobra"

	"skillrouter/operational"
)

func (s *shell) stopCommand() *cobra.Command {
	var reason, from string
	cmd := s.remote(s.command(&cobra.Command{
		Use: "stop AGENT [--reason TEXT]", Short: "Ask an agent to stop", Args: cobra.ExactArgs(1),
		Long: `Sends the signal "stop". An agent under "skillrouter run" is ended at once; any
other is told at its next heartbeat or check, also if the router was restarted
in between.`,
	}, func(ctx context.Context, args []string) error {
		draft := operational.MessageDraft{From: s.sender(from), To: args[0], Signal: operational.SignalStop}
		if reason != "" {
			text, err := json.Marshal(map[string]string{"reason": reason})
			if err != nil {
				return err
			}
			draft.Context = text
		}
		return s.send(ctx, draft)
	}))
	cmd.Flags().StringVar(&reason, "reason", "", "why it should stop")
	cmd.Flags().StringVar(&from, "from", "", "agent that you speak as (SKILLROUTER_AGENT, else captain)")
	return cmd
}
