package cli

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"skillrouter/comms"
	"skillrouter/operational"
	"skillrouter/router/client"
)

// captain is whom a person at the terminal speaks as.
const captain = "captain"

// sender is who a message is from: the flag, else the agent whose wrapper
// started this shell, else the captain.
func (s *shell) sender(flag string) string { return first(s.agent(flag), captain) }

func (s *shell) signalCommand() *cobra.Command {
	var draft operational.MessageDraft
	var words []string
	var object, text string
	var broadcast bool
	return asks(s, command{
		use:   "signal AGENT SIGNAL [--text TEXT | --context JSON]\n  skillrouter signal --broadcast SIGNAL [--text TEXT | --context JSON]",
		short: "Send a signal to an agent, or to all", args: listed(cobra.RangeArgs(1, 2), &words),
		long: `Stores a signal and hands it to whoever listens. SIGNAL is stop, pause, resume,
message or any name that the agents agreed on.`,
		flags: options{
			who("from", &draft.From, s.sender, "agent that you speak as (SKILLROUTER_AGENT, else captain)"),
			option("broadcast", &broadcast, "send it to every agent"),
			option("context", &object, "JSON object that goes with it"),
			option("text", &text, "text that goes with it, as the context {\"text\": TEXT}"),
			option("thread", &draft.ThreadID, "thread that it belongs to"),
			option("priority", &draft.Priority, "priority, -10 to 10"),
			option("key", &draft.IdempotencyKey, "idempotency key: the same again is sent once"),
			option("ack-required", &draft.AckRequired, "list it as overdue until it is acknowledged"),
			option("ttl", &draft.TTLSeconds, "seconds after which it is handed to nobody"),
		},
		before: func() error {
			switch {
			case broadcast && len(words) != 1:
				return usagef("with --broadcast there is no AGENT: name the signal alone")
			case broadcast:
				draft.Signal = words[0]
			case len(words) != 2:
				return usagef("name the agent and the signal, or use --broadcast")
			default:
				draft.To, draft.Signal = words[0], words[1]
			}
			switch {
			case object != "" && text != "":
				return usagef("--text and --context exclude each other")
			case text != "":
				draft.Context = said("text", text)
			case object != "":
				if draft.Context = json.RawMessage(object); !json.Valid(draft.Context) || !comms.Object(draft.Context) {
					return usagef("--context must be a JSON object")
				}
			}
			return nil
		},
	}, sends(client.Mailbox.Send, &draft), printSent)
}

// said is a text under a name, as the context of a signal.
func said(name, text string) json.RawMessage {
	object, _ := json.Marshal(map[string]string{name: text}) // texts cannot fail
	return object
}

// printSent tells what became of a signal.
func printSent(w io.Writer, sent comms.Sent) {
	state := "stored; it waits until the agent listens"
	switch {
	case sent.Duplicate:
		state = "not sent again: the key was used before"
	case sent.Delivered:
		state = "delivered"
	}
	fmt.Fprintf(w, "%s to %s: %s (seq %d, %s)\n", clean(sent.Signal), clean(sent.Target), state, sent.Seq, clean(sent.MessageID))
}

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
