package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"skillrouter/comms"
	"skillrouter/operational"
)

// captain is whom a person at the terminal speaks as.
const captain = "captain"

func (s *shell) sender(flag string) string {
	if from := s.agent(flag); from != "" {
		return from
	}
	return captain
}

func (s *shell) signalCommand() *cobra.Command {
	var draft operational.MessageDraft
	var from, object, text string
	var broadcast bool
	cmd := s.remote(s.command(&cobra.Command{
		Use:   "signal AGENT SIGNAL [--text TEXT | --context JSON]\n  skillrouter signal --broadcast SIGNAL [--text TEXT | --context JSON]",
		Short: "Send a signal to an agent, or to all", Args: cobra.RangeArgs(1, 2),
		Long: `Stores a signal and hands it to whoever listens. SIGNAL is stop, pause, resume,
message or any name that the agents agreed on.`,
	}, func(ctx context.Context, args []string) error {
		switch {
		case broadcast && len(args) != 1:
			return usagef("with --broadcast there is no AGENT: name the signal alone")
		case broadcast:
			draft.Signal = args[0]
		case len(args) != 2:
			return usagef("name the agent and the signal, or use --broadcast")
		default:
			draft.To, draft.Signal = args[0], args[1]
		}
		if object != "" && text != "" {
			return usagef("--text and --context exclude each other")
		}
		if object != "" {
			if !json.Valid([]byte(object)) || !comms.Object([]byte(object)) {
				return usagef("--context must be a JSON object")
			}
			draft.Context = json.RawMessage(object)
		}
		if text != "" {
			encoded, err := json.Marshal(map[string]string{"text": text})
			if err != nil {
				return err
			}
			draft.Context = encoded
		}
		draft.From = s.sender(from)
		return s.send(ctx, draft)
	}))
	flags := cmd.Flags()
	flags.StringVar(&from, "from", "", "agent that you speak as (SKILLROUTER_AGENT, else captain)")
	flags.BoolVar(&broadcast, "broadcast", false, "send it to every agent")
	flags.StringVar(&object, "context", "", "JSON object that goes with it")
	flags.StringVar(&text, "text", "", "text that goes with it, as the context {\"text\": TEXT}")
	flags.StringVar(&draft.ThreadID, "thread", "", "thread that it belongs to")
	flags.IntVar(&draft.Priority, "priority", 0, "priority, -10 to 10")
	flags.StringVar(&draft.IdempotencyKey, "key", "", "idempotency key: the same again is sent once")
	flags.BoolVar(&draft.AckRequired, "ack-required", false, "list it as overdue until it is acknowledged")
	flags.Int64Var(&draft.TTLSeconds, "ttl", 0, "seconds after which it is handed to nobody")
	return cmd
}

// send sends a signal and says what became of it.
func (s *shell) send(ctx context.Context, draft operational.MessageDraft) error {
	c, err := s.client()
	if err != nil {
		return err
	}
	sent, err := c.Mailbox.Send(ctx, draft)
	if err != nil {
		return err
	}
	return s.print(sent, func(w io.Writer) {
		state := "stored; it waits until the agent listens"
		switch {
		case sent.Duplicate:
			state = "not sent again: the key was used before"
		case sent.Delivered:
			state = "delivered"
		}
		fmt.Fprintf(w, "%s to %s: %s (seq %d, %s)\n", clean(sent.Signal), clean(sent.Target), state, sent.Seq, clean(sent.MessageID))
	})
}
