package cli

import (
	"github.com/spf13/cobra"

	"skillrouter/operational"
	"skillrouter/router/client"
)

func (s *shell) stopCommand() *cobra.Command {
	draft := operational.MessageDraft{Signal: operational.SignalStop}
	var reason string
	return asks(s, command{
		use: "stop AGENT [--reason TEXT]", short: "Ask an agent to stop", args: exactly(&draft.To),
		long: `Sends the signal "stop". An agent under "skillrouter run" is ended at once; any
other is told at its next heartbeat or check, also if the router was restarted
in between.`,
		flags: options{
			option("reason", &reason, "why it should stop"),
			who("from", &draft.From, s.sender, "agent that you speak as (SKILLROUTER_AGENT, else captain)"),
		},
		before: func() error {
			if reason != "" {
				draft.Context = said("reason", reason)
			}
			return nil
		},
	}, sends(client.Mailbox.Send, &draft), printSent)
}
