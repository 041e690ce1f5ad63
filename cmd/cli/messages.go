package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"skillrouter"
	"skillrouter/comms"
	"skillrouter/operational"
	"skillrouter/router/client"
)

func (s *shell) messagesCommand() *cobra.Command {
	var query comms.InboxQuery
	var follow, ack, all bool
	var since int64
	cmd := s.remote(s.command(&cobra.Command{
		Use: "messages [--agent ID] [--follow] [--ack]", Short: "Show an agent's messages, or follow them as they come", Args: cobra.NoArgs,
		Long: `Shows the messages that the agent has not acknowledged, the oldest first. With
--follow it goes on with each new one as it arrives, across restarts of the
router, until it is interrupted.`,
	}, func(ctx context.Context, _ []string) error {
		if query.AgentID = s.agent(query.AgentID); query.AgentID == "" {
			return usagef("name the agent with --agent or SKILLROUTER_AGENT")
		}
		c, err := s.client()
		if err != nil {
			return err
		}
		if follow {
			return s.follow(ctx, c, query.AgentID, since, ack)
		}
		query.Since, query.Unacked = max(since, 0), !all && since < 0
		inbox, err := c.Mailbox.Inbox(ctx, query)
		if err != nil {
			return err
		}
		if err := s.print(inbox, func(w io.Writer) { s.inboxTable(w, inbox) }); err != nil {
			return err
		}
		if !ack || len(inbox.Messages) == 0 {
			return nil
		}
		ids := make([]string, len(inbox.Messages))
		for i, m := range inbox.Messages {
			ids[i] = m.ID
		}
		_, err = c.Mailbox.Ack(ctx, comms.Ack{AgentID: query.AgentID, MessageIDs: ids})
		return err
	}))
	flags := cmd.Flags()
	flags.StringVar(&query.AgentID, "agent", "", "agent whose messages are meant (SKILLROUTER_AGENT)")
	flags.BoolVarP(&follow, "follow", "f", false, "go on with new messages as they arrive")
	flags.BoolVar(&ack, "ack", false, "acknowledge what was shown")
	flags.BoolVar(&all, "all", false, "also those that are acknowledged")
	flags.Int64Var(&since, "since", client.FromCursor, "only those with a greater seq; 0: all that are kept")
	flags.StringVar(&query.Thread, "thread", "", "only those of this thread")
	flags.IntVar(&query.Limit, "limit", 0, "how many at most")
	return cmd
}

// follow prints each message on a line of its own as it arrives.
func (s *shell) follow(ctx context.Context, c *client.Client, agentID string, since int64, ack bool) error {
	away := false
	var shown []string // and not acknowledged yet
	acknowledge := func() {
		if len(shown) == 0 {
			return
		}
		if _, err := c.Mailbox.Ack(ctx, comms.Ack{AgentID: agentID, MessageIDs: shown}); err == nil {
			shown = nil
		} else if skillrouter.CodeOf(err) != skillrouter.Unavailable {
			// Not to be able to say that it was shown is no reason to stop showing.
			fmt.Fprintf(s.err, "skillrouter: not acknowledged: %s\n", clean(explain(err)))
			shown = nil
		}
	}
	follower := client.Follower{
		AgentID: agentID, After: since,
		Up: func() {
			if away {
				fmt.Fprintln(s.err, "skillrouter: connected again")
			}
			away = false
			acknowledge() // what the router went away over
		},
		Down: func(err error, _ time.Duration) {
			if !away {
				fmt.Fprintf(s.err, "skillrouter: %s; trying again\n", clean(explain(err)))
			}
			away = true
		},
	}
	return c.Mailbox.Follow(ctx, follower, func(m operational.Message) error {
		if err := s.line(m); err != nil {
			return err
		}
		if !ack {
			return nil
		}
		shown = append(shown, m.ID)
		if len(shown) > comms.MaxAckIDs { // the router has been away for very long; what is not acknowledged is shown again
			shown = shown[1:]
		}
		acknowledge()
		return nil
	})
}

// line prints one message: as one line of JSON, or of text.
func (s *shell) line(m operational.Message) error {
	if s.json {
		encoder := json.NewEncoder(s.out)
		encoder.SetEscapeHTML(false)
		return encoder.Encode(m)
	}
	to := m.To
	if to == "" {
		to = "all"
	}
	_, err := fmt.Fprintf(s.out, "%s  #%d  %s -> %s  %s  %s\n",
		m.CreatedAt.Local().Format(time.TimeOnly), m.Seq, clean(m.From), clean(to), clean(m.Signal), clean(string(m.Context)))
	return err
}

func (s *shell) inboxTable(w io.Writer, inbox comms.Inbox) {
	if len(inbox.Messages) == 0 {
		fmt.Fprintln(w, "No messages.")
		return
	}
	messages := make([]operational.Message, len(inbox.Messages))
	for i, m := range inbox.Messages {
		messages[i] = m.Message
	}
	s.messageTable(w, messages)
	if inbox.More {
		fmt.Fprintf(w, "There are more: --since %d\n", inbox.LastSeq)
	}
}

func (s *shell) messageTable(w io.Writer, messages []operational.Message) {
	now := s.now()
	rows := make([][]string, len(messages))
	for i, m := range messages {
		rows[i] = []string{fmt.Sprint(m.Seq), m.From, m.Signal, string(m.Context), ago(now, m.CreatedAt)}
	}
	table(w, []string{"SEQ", "FROM", "SIGNAL", "CONTEXT", "SENT"}, rows)
}
