package client

import (
	"context"
	"net/http"
	"time"

	"skillrouter/comms"
	"skillrouter/operational"
)

// Mailbox is comms.MailboxService over HTTP.
type Mailbox struct{ c *Client }

var _ comms.MailboxService = Mailbox{}

// Send implements comms.MailboxService.
func (m Mailbox) Send(ctx context.Context, draft operational.MessageDraft) (comms.Sent, error) {
	return call[comms.Sent](ctx, m.c, http.MethodPost, at("/signal"), draft)
}

// Inbox implements comms.MailboxService.
func (m Mailbox) Inbox(ctx context.Context, query comms.InboxQuery) (comms.Inbox, error) {
	return call[comms.Inbox](ctx, m.c, http.MethodGet, at("/messages/inbox").with(query), nil)
}

// Ack implements comms.MailboxService.
func (m Mailbox) Ack(ctx context.Context, ack comms.Ack) (int64, error) {
	type answer struct {
		Acked int64 `json:"acked"`
	}
	a, err := call[answer](ctx, m.c, http.MethodPost, at("/messages/ack"), ack)
	return a.Acked, err
}

// Read implements comms.MailboxService.
func (m Mailbox) Read(ctx context.Context, read comms.Ack) (int64, error) {
	type answer struct {
		Read int64 `json:"read"`
	}
	a, err := call[answer](ctx, m.c, http.MethodPost, at("/messages/read"), read)
	return a.Read, err
}

// Receipts implements comms.MailboxService.
func (m Mailbox) Receipts(ctx context.Context, messageID string) (comms.MessageReceipts, error) {
	return call[comms.MessageReceipts](ctx, m.c, http.MethodGet, at("/messages/{message_id}/receipts", messageID), nil)
}

// Overdue implements comms.MailboxService.
func (m Mailbox) Overdue(ctx context.Context, age time.Duration, limit int) ([]comms.OverdueMessage, error) {
	return list[comms.OverdueMessage](ctx, m.c, at("/messages/overdue").with(struct {
		Age   float64 `query:"age_seconds"`
		Limit int     `query:"limit"`
	}{age.Seconds(), limit}), "messages")
}
