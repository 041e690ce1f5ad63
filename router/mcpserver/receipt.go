package mcpserver

import (
	"context"
	"fmt"
	"strings"
	"time"

	"skillrouter"
	"skillrouter/comms"
	"skillrouter/operational"
)

// maxOverdueAge bounds the age that overdue messages are asked for by, in seconds: a year.
const maxOverdueAge = 365 * 24 * 3600

type messageReceipts struct {
	MessageID string `json:"message_id"`
}

type overdueMessages struct {
	OlderThan int `json:"older_than_seconds"`
	Limit     int `json:"limit"`
}

// receipts is how far a message has come. Its context is its recipients' to read.
type receipts struct {
	MessageID string                `json:"message_id"`
	Seq       int64                 `json:"seq"`
	Signal    string                `json:"signal"`
	Receipts  []operational.Receipt `json:"receipts"`
	Notice    string                `json:"notice,omitempty"`
}

// overdue is a message that somebody should have acknowledged.
type overdue struct {
	MessageID string   `json:"message_id"`
	Seq       int64    `json:"seq"`
	From      string   `json:"from_agent_id"`
	To        string   `json:"to_agent_id,omitempty"`
	Signal    string   `json:"signal"`
	ThreadID  string   `json:"thread_id,omitempty"`
	Waiting   []string `json:"waiting"`
	AgeMS     int64    `json:"age_ms"`
}

type overdueList struct {
	Messages []overdue `json:"messages"`
	Notice   string    `json:"notice,omitempty"`
}

// addReceiptTools offers what became of signals, in the toolset of the team's work.
func (s *Server) addReceiptTools() {
	add(s, tool{
		name: "message_receipts", title: "A message's receipts", set: ToolsetOperations, effect: reads,
		description: "How far a message that you sent has come with each recipient: delivered, read, acknowledged.",
		input:       arguments(required(text("message_id", "Of send_signal"))), output: holds("message_id", "receipts"),
	}, s.messageReceipts)
	add(s, tool{
		name: "overdue_messages", title: "Overdue messages", set: ToolsetOperations, effect: reads,
		description: "Messages that want an acknowledgement and have not had one for long, and who owes it.",
		input: arguments(
			integer("older_than_seconds", "Default 0: all of them", 0, maxOverdueAge),
			integer("limit", "Default 100", 1, comms.MaxLimit),
		),
		output: holds("messages"),
	}, s.overdueMessages)
}

func (s *Server) messageReceipts(ctx context.Context, in messageReceipts) (reply[receipts], error) {
	found, err := s.services.Mailbox.Receipts(ctx, in.MessageID)
	if err != nil {
		return reply[receipts]{}, err
	}
	out := receipts{MessageID: found.Message.ID, Seq: found.Message.Seq, Signal: found.Message.Signal, Receipts: append([]operational.Receipt{}, found.Receipts...), Notice: notice}
	f := newFence("Message %d has %s.", out.Seq, count(len(out.Receipts), "receipt", "receipts"))
	if len(out.Receipts) == 0 {
		return reply[receipts]{out, f.String() + " Nobody was handed it yet."}, nil
	}
	f.explain()
	lines := make([]string, 0, len(out.Receipts))
	for _, r := range out.Receipts {
		state := "waits"
		for _, step := range []struct {
			at   *time.Time
			name string
		}{{r.AckedAt, "acknowledged"}, {r.ReadAt, "read"}, {r.DeliveredAt, "delivered"}} {
			if step.at != nil {
				state = step.name + " " + step.at.UTC().Format(time.RFC3339)
				break
			}
		}
		lines = append(lines, r.AgentID+": "+state)
	}
	f.add("By recipient:", skillrouter.Head(strings.Join(lines, "\n"), maxAnswer))
	return reply[receipts]{out, f.String()}, nil
}

func (s *Server) overdueMessages(ctx context.Context, in overdueMessages) (reply[overdueList], error) {
	if in.OlderThan < 0 || in.OlderThan > maxOverdueAge {
		return reply[overdueList]{}, skillrouter.InvalidField("older_than_seconds", "must lie between 0 and %d", maxOverdueAge)
	}
	found, err := s.services.Mailbox.Overdue(ctx, time.Duration(in.OlderThan)*time.Second, in.Limit)
	if err != nil {
		return reply[overdueList]{}, err
	}
	out := overdueList{Messages: []overdue{}}
	for _, m := range found {
		out.Messages = append(out.Messages, overdue{
			MessageID: m.ID, Seq: m.Seq, From: m.From, To: m.To, Signal: m.Signal, ThreadID: m.ThreadID, Waiting: append([]string{}, m.Waiting...), AgeMS: m.AgeMS,
		})
	}
	if len(out.Messages) == 0 {
		return reply[overdueList]{out, "Nothing is overdue."}, nil
	}
	out.Notice = notice
	f := newFence("%s.", count(len(out.Messages), "message is overdue", "messages are overdue"))
	f.explain()
	for _, m := range out.Messages {
		f.add(fmt.Sprintf("seq %d from %s, for %s", m.Seq, author(m.From), (time.Duration(m.AgeMS)*time.Millisecond).Round(time.Second)),
			attributes("signal", m.Signal, "id", m.MessageID, "thread", m.ThreadID), part("Owed by", strings.Join(m.Waiting, ", ")))
	}
	return reply[overdueList]{out, f.String()}, nil
}
