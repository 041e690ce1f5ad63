package comms

import (
	"cmp"
	"context"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/committer"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/operational"
)

const (
	// maxReceipts bounds the recipients that one answer lists.
	maxReceipts = 10_000
	// maxWaiting bounds the agents that are named for each overdue message.
	maxWaiting = 100
)

// Inbox lists the messages of an agent, the oldest first, and marks them as delivered. The
// answer has the marks from before the call. An agent that asks for the first time becomes
// known. The caller must be that agent, or a Captain.
func (b *Mailbox) Inbox(ctx context.Context, q InboxQuery) (Inbox, error) {
	if err := check.AgentID("agent_id", q.AgentID); err != nil {
		return Inbox{}, err
	}
	if q.Since < 0 {
		return Inbox{}, errs.InvalidField("since", "must not be negative")
	}
	limit, err := check.Limit(q.Limit, DefaultLimit, MaxLimit)
	if err := cmp.Or(err, check.Name("thread_id", q.Thread), principal.Of(ctx).ActAs(q.AgentID)); err != nil {
		return Inbox{}, err
	}
	var joined *int64
	if q.Since > 0 {
		joined = &q.Since
	}
	m, _, err := b.roster.ensure(ctx, q.AgentID, joined)
	if errs.CodeOf(err) == errs.StorageFull { // reading goes on; the agent is made known another time
		m, err = visitor(q.AgentID, joined), nil
	}
	if err != nil {
		return Inbox{}, err
	}
	if err := b.collect(ctx, m); err != nil {
		return Inbox{}, err
	}
	record := m.snapshot()
	messages, last, more, err := b.roster.mail(ctx, operational.MailQuery{
		AgentID: m.id, JoinedSeq: record.JoinedSeq, After: q.Since, Unacked: q.Unacked, AckedSeq: record.AckedSeq,
		Thread: q.Thread, Now: b.now(), Limit: limit, MaxBytes: MaxInboxBytes,
	})
	if err != nil {
		return Inbox{}, err
	}
	page := Inbox{Messages: make([]InboxMessage, len(messages)), Count: len(messages), LastSeq: last, More: more}
	if len(messages) == 0 {
		return page, nil
	}
	receipts, err := b.store.ReceiptsBetween(ctx, m.id, messages[0].Seq, page.LastSeq)
	if err != nil {
		return Inbox{}, err
	}
	single := make(map[int64]operational.Receipt, len(receipts))
	for _, r := range receipts {
		single[r.Seq] = r
	}
	var fresh []operational.Message
	for i, one := range messages {
		r := single[one.Seq]
		if r.DeliveredAt == nil {
			fresh = append(fresh, one)
		}
		page.Messages[i] = InboxMessage{
			Message:   one,
			Delivered: r.DeliveredAt != nil || one.Seq <= record.DeliveredSeq && one.ExpiresAt == nil,
			Read:      r.ReadAt != nil || one.Seq <= record.ReadSeq,
			Acked:     r.AckedAt != nil || one.Seq <= record.AckedSeq,
		}
	}
	if q.Thread == "" && q.Since <= record.DeliveredSeq { // nothing lies between what it had and this
		m.deliveredThrough(page.LastSeq, b.now())
	}
	b.handedSingly(ctx, m, fresh)
	return page, nil
}

// MaxInboxBytes bounds the contexts in one page of an inbox; the page ends
// with the message that reaches it.
const MaxInboxBytes = 4 << 20

// Ack acknowledges messages of an agent: those up to and including Seq, or
// those with the ids. It returns how many were not acknowledged before. The
// caller must be that agent, or a Captain.
func (b *Mailbox) Ack(ctx context.Context, ack Ack) (int64, error) {
	return b.mark(ctx, ack, operational.MarkAcked)
}

// Read marks messages as read, as Ack acknowledges them.
func (b *Mailbox) Read(ctx context.Context, read Ack) (int64, error) {
	return b.mark(ctx, read, operational.MarkRead)
}

func (b *Mailbox) mark(ctx context.Context, ack Ack, kind operational.MarkKind) (int64, error) {
	if err := b.checkAck(ctx, ack); err != nil {
		return 0, err
	}
	if err := principal.Of(ctx).ActAs(ack.AgentID); err != nil {
		return 0, err
	}
	m, err := b.roster.known(ack.AgentID)
	if err != nil {
		return 0, err
	}
	if kind == operational.MarkAcked {
		ctx = committer.Essential(ctx)
		defer b.boxes.acked(m.id)
	}
	var count int64
	err = b.store.Mark(ctx, operational.MarkRequest{AgentID: m.id, Kind: kind, Seq: ack.Seq, IDs: ack.MessageIDs, At: b.now()}, func(marked operational.Marked) {
		count = marked.Count
		m.mail.Add(1)
		m.mu.Lock()
		defer m.mu.Unlock()
		switch kind {
		case operational.MarkRead:
			m.record.ReadSeq = max(m.record.ReadSeq, marked.Through)
		case operational.MarkAcked:
			m.record.AckedSeq = max(m.record.AckedSeq, marked.Through)
		}
	})
	return count, err
}

func (b *Mailbox) checkAck(ctx context.Context, ack Ack) error {
	if err := check.AgentID("agent_id", ack.AgentID); err != nil {
		return err
	}
	switch {
	case len(ack.MessageIDs) > MaxAckIDs:
		return &errs.Error{Code: errs.TooLarge, Field: "message_ids", Message: "holds too many ids: acknowledge by seq"}
	case ack.Seq < 0:
		return errs.InvalidField("seq", "must not be negative")
	case ack.Seq == 0 && len(ack.MessageIDs) == 0:
		return errs.InvalidField("seq", "is required, or message_ids")
	case ack.Seq != 0 && len(ack.MessageIDs) > 0:
		return errs.InvalidField("seq", "may not be given together with message_ids")
	}
	for _, id := range ack.MessageIDs {
		if err := check.Name("message_ids", id); err != nil {
			return err
		}
	}
	if ack.Seq > b.newest.Load() {
		last, err := b.store.LastSeq(ctx)
		if err != nil {
			return err
		}
		if ack.Seq > last {
			return errs.InvalidField("seq", "lies beyond the newest message")
		}
	}
	return nil
}

// Receipts tells how far a message has come with each recipient, at most
// 10,000 of them. Its sender and a Captain see all of them, a recipient its own.
func (b *Mailbox) Receipts(ctx context.Context, messageID string) (MessageReceipts, error) {
	caller := principal.Of(ctx).Keeping()
	if err := cmp.Or(caller.Need(principal.ScopeAgent), check.Name("message_id", messageID)); err != nil {
		return MessageReceipts{}, err
	}
	message, err := b.store.Message(ctx, messageID)
	if err != nil {
		return MessageReceipts{}, err
	}
	if err := b.saveDeliveries(ctx); err != nil { // so that what was just delivered is told
		return MessageReceipts{}, err
	}
	var receipts []operational.Receipt
	if message.To == "" {
		receipts, err = b.store.BroadcastReceipts(ctx, message, maxReceipts)
	} else {
		var found map[int64]operational.SentReceipts
		found, err = b.store.ReceiptsOf(ctx, []int64{message.Seq}, maxReceipts)
		receipts = found[message.Seq].Receipts
	}
	if err != nil {
		return MessageReceipts{}, err
	}
	receipts = receiptsFor(caller, message.From, receipts)
	if len(receipts) == 0 && caller.ActAs(message.From) != nil || caller.Walled() && !b.roster.shows(caller, message) { // as if there were none: others' messages are nobody's business
		return MessageReceipts{}, errs.Errorf(errs.NotFound, "no message has this id")
	}
	return MessageReceipts{Message: message, Receipts: receipts}, nil
}

// receiptsFor are the receipts that somebody may see of a message: its sender and a captain all of them, a recipient its own.
func receiptsFor(caller principal.Principal, from string, receipts []operational.Receipt) []operational.Receipt {
	if caller.ActAs(from) == nil {
		return receipts
	}
	own := []operational.Receipt{}
	for _, r := range receipts {
		if caller.Is(r.AgentID) {
			own = append(own, r)
		}
	}
	return own
}

// Reached is Receipts of a page of messages at once, by their seqs. One to everybody has none, nor has one that is nobody's
// business of the caller's.
func (b *Mailbox) Reached(ctx context.Context, messages []operational.Message) (map[int64][]operational.Receipt, error) {
	caller := principal.Of(ctx).Keeping()
	if err := caller.Need(principal.ScopeAgent); err != nil {
		return nil, err
	}
	if len(messages) > MaxLimit {
		return nil, errs.InvalidField("messages", "may be %d at most", MaxLimit)
	}
	seqs := make([]int64, len(messages))
	for i, m := range messages {
		seqs[i] = m.Seq
	}
	if err := b.saveDeliveries(ctx); err != nil { // so that what was just delivered is told
		return nil, err
	}
	found, err := b.store.ReceiptsOf(ctx, seqs, maxReceipts)
	reached := make(map[int64][]operational.Receipt, len(found))
	for seq, sent := range found {
		if shown := receiptsFor(caller, sent.From, sent.Receipts); len(shown) > 0 {
			reached[seq] = shown
		}
	}
	return reached, err
}

// Overdue lists messages that want an acknowledgement and have waited for one,
// the oldest first. A Captain sees all of them, an agent those that it sent.
func (b *Mailbox) Overdue(ctx context.Context, query OverdueQuery) ([]OverdueMessage, error) {
	limit, err := check.Limit(query.Limit, DefaultLimit, MaxLimit)
	if err != nil {
		return nil, err
	}
	age := time.Duration(query.Age * float64(time.Second))
	if age < 0 {
		return nil, errs.InvalidField("age_seconds", "must not be negative")
	}
	caller := principal.Of(ctx).Keeping()
	if err := caller.Need(principal.ScopeAgent); err != nil {
		return nil, err
	}
	from := caller.AgentID
	if caller.Has(principal.ScopeCaptain) {
		from = ""
	}
	now := b.now()
	awaited, err := b.store.Awaited(ctx, from, now.Add(-age), now, limit, maxWaiting)
	if err != nil {
		return nil, err
	}
	overdue := make([]OverdueMessage, len(awaited))
	for i, a := range awaited {
		overdue[i] = OverdueMessage{Message: a.Message, Waiting: a.Waiting, AgeMS: now.Sub(a.CreatedAt).Milliseconds()}
	}
	return overdue, nil
}

// Unread returns how many messages the agent has not acknowledged, up to what a
// heartbeat counts. The caller must be that agent, or a Captain.
func (p *Presence) Unread(ctx context.Context, agentID string) (int, error) {
	if err := principal.Of(ctx).ActAs(agentID); err != nil {
		return 0, err
	}
	m, err := p.roster.known(agentID)
	if err != nil {
		return 0, err
	}
	return p.roster.waiting(ctx, m)
}

// Unacked returns the oldest messages that the agent has not acknowledged, at
// most limit of them, and how many there are, up to what a heartbeat counts.
// It marks none as delivered, because the agent does not see them by it. It is
// for the router's own use and asks for no right.
func (p *Presence) Unacked(ctx context.Context, agentID string, limit int) (messages []operational.Message, count int, err error) {
	query := operational.MailQuery{AgentID: agentID, JoinedSeq: noBroadcasts, Unacked: true, Now: p.now()}
	if m := p.roster.member(agentID); m != nil {
		if count, err = p.roster.unacked(ctx, m); err != nil || count == 0 {
			return nil, 0, err
		}
		query = m.mailQuery(query.Now)
	}
	query.Limit = limit
	messages, _, err = p.roster.store.Mail(ctx, query)
	return messages, max(count, len(messages)), err
}
