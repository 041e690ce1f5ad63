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
	return call[comms.Sent](ctx, m.c, http.MethodPost, "/signal", nil, draft)
}

// Inbox implements comms.MailboxService.
func (m Mailbox) Inbox(ctx context.Context, query comms.InboxQuery) (comms.Inbox, error) {
	return call[comms.Inbox](ctx, m.c, http.MethodGet, "/messages/inbox", values(
		"agent_id", query.AgentID, "since", query.Since, "unacked", query.Unacked, "thread", query.Thread, "limit", query.Limit,
	), nil)
}

// Ack implements comms.MailboxService.
func (m Mailbox) Ack(ctx context.Context, ack comms.Ack) (int64, error) {
	type answer struct {
		Acked int64 `json:"acked"`
	}
	a, err := call[answer](ctx, m.c, http.MethodPost, "/messages/ack", nil, ack)
	return a.Acked, err
}

// Read implements comms.MailboxService.
func (m Mailbox) Read(ctx context.Context, read comms.Ack) (int64, error) {
	type answer struct {
		Read int64 `json:"read"`
	}
	a, err := call[answer](ctx, m.c, http.MethodPost, "/messages/read", nil, read)
	return a.Read, err
}

// Receipts implements comms.MailboxService.
func (m Mailbox) Receipts(ctx context.Context, messageID string) (comms.MessageReceipts, error) {
	path, err := segment("message_id", messageID)
	if err != nil {
		return comms.MessageReceipts{}, err
	}
	return call[comms.MessageReceipts](ctx, m.c, http.MethodGet, "/messages/"+path+"/receipts", nil, nil)
}

// Overdue implements comms.MailboxService.
func (m Mailbox) Overdue(ctx context.Context, age time.Duration, limit int) ([]comms.OverdueMessage, error) {
	type listing struct {
		Messages []comms.OverdueMessage `json:"messages"`
	}
	list, err := call[listing](ctx, m.c, http.MethodGet, "/messages/overdue", values("age_seconds", age.Seconds(), "limit", limit), nil)
	return list.Messages, err
}
