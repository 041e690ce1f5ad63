package mcpserver

import (
	"context"
	"fmt"
	"strings"
	"time"

	"skillrouter/comms"
	"skillrouter/internal/check"
	"skillrouter/internal/errs"
	"skillrouter/operational"
)

// maxOverdueAge bounds the age that overdue messages are asked for by, in seconds: a year.
const maxOverdueAge = 365 * 24 * 3600

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

// overdueQuery is what overdue_messages takes. The age is in seconds.
type overdueQuery struct{ age, limit int }

// addReceiptTools offers what became of signals, in the toolset of the team's work.
func (s *Server) addReceiptTools() {
	add(s, tool{
		name: "message_receipts", title: "A message's receipts", set: ToolsetOperations, effect: reads, holds: "message_id receipts",
		description: "How far a message that you sent has come with each recipient: delivered, read, acknowledged.",
	}, func(p *params, id *string) { p.must("message_id", id, "Of send_signal") }, then(s.services.Mailbox.Receipts, shownReceipts))
	add(s, tool{
		name: "overdue_messages", title: "Overdue messages", set: ToolsetOperations, effect: reads, holds: "messages",
		description: "Messages that want an acknowledgement and have not had one for long, and who owes it.",
	}, func(p *params, q *overdueQuery) {
		p.may("older_than_seconds", &q.age, "Default 0: all of them", within(0, maxOverdueAge))
		p.limit(&q.limit, comms.DefaultLimit, comms.MaxLimit)
	}, then(func(ctx context.Context, q overdueQuery) ([]comms.OverdueMessage, error) {
		if q.age < 0 || q.age > maxOverdueAge {
			return nil, errs.InvalidField("older_than_seconds", "must lie between 0 and %d", maxOverdueAge)
		}
		return s.services.Mailbox.Overdue(ctx, time.Duration(q.age)*time.Second, q.limit)
	}, shownOverdue))
}

func shownReceipts(found comms.MessageReceipts) (receipts, string) {
	out := receipts{MessageID: found.Message.ID, Seq: found.Message.Seq, Signal: found.Message.Signal, Receipts: owned(found.Receipts), Notice: notice}
	f := newFence("Message %d has %s.", out.Seq, count(len(out.Receipts), "receipt", "receipts"))
	if len(out.Receipts) == 0 {
		return out, f.String() + " Nobody was handed it yet."
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
	f.add("By recipient:", check.Head(strings.Join(lines, "\n"), maxAnswer))
	return out, f.String()
}

func shownOverdue(found []comms.OverdueMessage) (overdueList, string) {
	out := overdueList{Messages: views(found, func(m comms.OverdueMessage) overdue {
		return overdue{MessageID: m.ID, Seq: m.Seq, From: m.From, To: m.To, Signal: m.Signal, ThreadID: m.ThreadID, Waiting: owned(m.Waiting), AgeMS: m.AgeMS}
	})}
	if len(out.Messages) == 0 {
		return out, "Nothing is overdue."
	}
	out.Notice = notice
	f := newFence("%s.", count(len(out.Messages), "message is overdue", "messages are overdue"))
	f.explain()
	for _, m := range out.Messages {
		f.add(fmt.Sprintf("seq %d from %s, for %s", m.Seq, author(m.From), (time.Duration(m.AgeMS)*time.Millisecond).Round(time.Second)),
			attributes("signal", m.Signal, "id", m.MessageID, "thread", m.ThreadID), part("Owed by", strings.Join(m.Waiting, ", ")))
	}
	return out, f.String()
}
