package cli

import (
	"context"
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
	since := client.FromCursor
	return s.calls(command{
		use: "messages [--agent ID] [--follow] [--ack]", short: "Show an agent's messages, or follow them as they come",
		long: `Shows the messages that the agent has not acknowledged, the oldest first. With
--follow it goes on with each new one as it arrives, across restarts of the
router, until it is interrupted.`,
		flags: options{
			who("agent", &query.AgentID, s.agent, "agent whose messages are meant (SKILLROUTER_AGENT)"),
			option("follow,f", &follow, "go on with new messages as they arrive"),
			option("ack", &ack, "acknowledge what was shown"),
			option("all", &all, "also those that are acknowledged"),
			option("since", &since, "only those with a greater seq; 0: all that are kept"),
			option("thread", &query.Thread, "only those of this thread"),
			limit(&query.Limit),
		},
		before: func() error {
			if query.AgentID == "" {
				return usagef("name the agent with --agent or SKILLROUTER_AGENT")
			}
			query.Since, query.Unacked = max(since, 0), !all && since < 0
			return nil
		},
	}, func(ctx context.Context, c *client.Client) error {
		if follow {
			return s.follow(ctx, c, query.AgentID, since, ack)
		}
		inbox, err := c.Mailbox.Inbox(ctx, query)
		if err := printed(s, inbox, err, printInbox); err != nil || !ack || len(inbox.Messages) == 0 {
			return err
		}
		ids := make([]string, len(inbox.Messages))
		for i, m := range inbox.Messages {
			ids[i] = m.ID
		}
		_, err = c.Mailbox.Ack(ctx, comms.Ack{AgentID: query.AgentID, MessageIDs: ids})
		return err
	})
}

// follow prints each message on a line of its own as it arrives.
func (s *shell) follow(ctx context.Context, c *client.Client, agentID string, since int64, ack bool) error {
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
	up, down := s.awayOnce()
	follower := client.Follower{
		AgentID: agentID, After: since, Down: down,
		Up: func() {
			up()
			acknowledge() // what the router went away over
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

// awayOnce tells what to do when a stream is open and when it is not: say once
// that the router is away, and once that it is back.
func (s *shell) awayOnce() (up func(), down func(err error, _ time.Duration)) {
	away := false
	up = func() {
		if away {
			fmt.Fprintln(s.err, "skillrouter: connected again")
		}
		away = false
	}
	down = func(err error, _ time.Duration) {
		if !away {
			fmt.Fprintf(s.err, "skillrouter: %s; trying again\n", clean(explain(err)))
		}
		away = true
	}
	return up, down
}

// line prints one message: as one line of JSON, or of text.
func (s *shell) line(m operational.Message) error {
	return s.print(m, func(w io.Writer) {
		fmt.Fprintf(w, "%s  #%d  %s -> %s  %s  %s\n",
			m.CreatedAt.Local().Format(time.TimeOnly), m.Seq, clean(m.From), clean(first(m.To, "all")), clean(m.Signal), clean(string(m.Context)))
	})
}

func printInbox(w io.Writer, inbox comms.Inbox) {
	messages := make([]operational.Message, len(inbox.Messages))
	for i, m := range inbox.Messages {
		messages[i] = m.Message
	}
	messageTable.list(w, messages)
	if inbox.More && len(messages) > 0 {
		fmt.Fprintf(w, "There are more: --since %d\n", inbox.LastSeq)
	}
}

var messageTable = columns[operational.Message]{
	"No messages.",
	[]string{"SEQ", "FROM", "SIGNAL", "CONTEXT", "SENT"},
	func(m operational.Message) cells {
		return cells{m.Seq, m.From, m.Signal, string(m.Context), m.CreatedAt}
	},
}
