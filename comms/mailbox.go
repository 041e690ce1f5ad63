package comms

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/clock"
	"github.com/skillrouter/skillrouter/internal/committer"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/internal/redact"
	"github.com/skillrouter/skillrouter/operational"
)

// Bounds on a message.
const (
	MaxPriority = 10
	// MaxTTL bounds a message's time to live: ten years are for ever, and
	// leave the sum with any clock within range.
	MaxTTL = 10 * 365 * 24 * time.Hour
	// MaxAckIDs bounds the messages that one call acknowledges one by one;
	// more are acknowledged by their seq.
	MaxAckIDs = 1000
)

// captainName is the id that the Captain sends as where no token says who he is.
const captainName = "captain"

// sendBatch is the most messages that are stored together: beyond a few
// hundred the cost of the sync is shared out already.
const sendBatch = 256

// Broadcast is what Sent.Target says of a message to every agent.
const Broadcast = "broadcast"

// MessageStore keeps messages and what became of them. The callbacks run
// after the commit and in commit order.
type MessageStore interface {
	LastSeq(ctx context.Context) (int64, error)
	AppendMessages(ctx context.Context, take func() []*operational.MessageAppend, stored func()) error
	Mail(ctx context.Context, q operational.MailQuery) ([]operational.Message, bool, error)
	Message(ctx context.Context, id string) (operational.Message, error)
	// MessageLog returns messages, the latest first, and the seq before which there may be more; 0: there is none.
	MessageLog(ctx context.Context, q operational.LogQuery) (messages []operational.Message, next int64, err error)
	Mark(ctx context.Context, r operational.MarkRequest, marked func(operational.Marked)) error
	TakeGroupMail(ctx context.Context, q operational.GroupQuery, id func() string, taken func(copies []operational.Message)) (more bool, err error)
	SaveDeliveries(ctx context.Context, deliveries []operational.Delivery) error
	MailWaiting(ctx context.Context, q operational.MailQuery) ([]operational.Waiting, error)
	AckedAfter(ctx context.Context, agentID string, after int64, limit int) ([]int64, error)
	ReceiptsBetween(ctx context.Context, agentID string, first, last int64) ([]operational.Receipt, error)
	BroadcastReceipts(ctx context.Context, m operational.Message, limit int) ([]operational.Receipt, error)
	ReceiptsOf(ctx context.Context, seqs []int64, limit int) (map[int64]operational.SentReceipts, error)
	Awaited(ctx context.Context, from string, before, now time.Time, limit, agents int) ([]operational.Awaited, error)
	// Unacknowledged returns those of the messages that Sweep would delete which somebody should have acknowledged and nobody did.
	Unacknowledged(ctx context.Context, after int64, cutoff time.Time, window int) ([]operational.Message, error)
	Sweep(ctx context.Context, after int64, cutoff time.Time, window int) (operational.Swept, error)
	// MessagesAfter returns the next messages after a seq, in their order; none: there are no more.
	MessagesAfter(ctx context.Context, seq int64) ([]operational.Message, error)
}

// MailboxOptions says how messages are kept. The zero value is usable.
type MailboxOptions struct {
	// OnlyCaptainsStop: an agent may not stop or pause others, unless a captain calls.
	OnlyCaptainsStop bool
	// Listens is told, on a router that follows another which writes, that an agent listens here: that one gives it what waits for
	// its groups. nil: this router writes.
	Listens   func(ctx context.Context, agentID string) error
	Retention time.Duration // how long a message is kept after it was sent, or has expired; 0: for ever
}

// letter is a message on its way.
type letter struct {
	operational.MessageAppend
	delivered bool // a live subscriber was handed it
	reserved  bool // its room in the mailbox was taken before it was stored
}

// Mailbox carries signals between agents. What it has accepted is on disk; it
// then wakes whoever listens. It shares Presence's knowledge of the agents.
type Mailbox struct {
	roster  *roster
	store   MessageStore
	now     clock.Clock
	log     *slog.Logger
	options MailboxOptions

	base    context.Context // never ends: the router composes its own messages within others' transactions
	outbox  committer.Gather[*letter]
	urgent  committer.Gather[*letter] // of stops: they share no transaction with what a full disk refuses
	boxes   boxes
	newest  atomic.Int64 // the seq of the newest message that was announced
	live    live
	grouped atomic.Uint64 // how often something was sent to a name that may be a group's
	beyond  beyond
}

// NewMailbox makes a Mailbox on the agents that presence knows. Run must be
// started for delivery marks to be written and old messages to be swept away.
func NewMailbox(ctx context.Context, presence *Presence, store MessageStore, log *slog.Logger, options MailboxOptions) (*Mailbox, error) {
	last, err := store.LastSeq(ctx)
	if err != nil {
		return nil, err
	}
	m := &Mailbox{base: context.WithoutCancel(ctx), roster: presence.roster, store: store, now: presence.now, log: log, options: options}
	m.newest.Store(last)
	m.live.agents = map[string][]*Subscription{}
	presence.handedOver, presence.collect = m.handedSingly, m.collect
	return m, nil
}

// Send stores a message and then hands it to whoever listens. It returns once
// the message is on disk. The sender is the caller's own agent if the draft
// names none; the caller must be that agent, or a Captain.
//
// Sent.Delivered is decided without waiting for anybody: it is true if, when
// the message was announced after its commit, at least one open stream of a
// recipient had kept up with the log. Streams are only rung for, and read the log;
// a recipient without a stream finds the message when it comes. For a
// repeated idempotency key it tells whether the first one has reached the recipient's stream.
//
// A recipient may be a group: a kind of agents, a project or a role. A message then waits
// until it expires for the first member that comes, or with Each for every one. A stop, pause or resume is
// for those members that live now, each of which gets its own.
func (b *Mailbox) Send(ctx context.Context, draft operational.MessageDraft) (Sent, error) {
	caller := principal.Of(ctx)
	draft.From = cmp.Or(draft.From, caller.AgentID)
	now := b.now()
	message, redacted, err := compose(draft, now)
	if err != nil {
		return Sent{}, err
	}
	if err := caller.ActAs(draft.From); err != nil {
		return Sent{}, err
	}
	if err := cmp.Or(b.mayHalt(caller, message), b.roster.maySend(caller, message.To)); err != nil {
		return Sent{}, err
	}
	var recipients []string
	if operational.Halts(message.Signal) && message.To != "" {
		recipients = b.roster.alive(message.To, message.From)
	}
	if len(recipients) == 0 {
		return b.sendTo(ctx, caller, message, redacted)
	}
	for _, to := range recipients {
		one := message
		one.To = to
		if err := b.mayHalt(caller, one); err != nil {
			return Sent{}, err
		}
	}
	// The answer is of the last; a key that is repeated answers for each of them again.
	var all Sent
	for _, to := range recipients {
		one := message
		one.To, one.Group = to, message.To
		if one.IdempotencyKey != "" {
			one.IdempotencyKey += "\n" + to
		}
		sent, err := b.sendTo(ctx, caller, one, redacted)
		if err != nil {
			return Sent{}, err
		}
		sent.Delivered = sent.Delivered || all.Delivered
		all = sent
	}
	all.Target, all.Recipients = message.To, recipients
	return all, nil
}

// sendTo stores a message to an agent, a group or all, and hands it to whoever listens.
func (b *Mailbox) sendTo(ctx context.Context, caller principal.Principal, message operational.Message, redacted []string) (Sent, error) {
	message.ID = check.NewID()
	// While no token exists the Captain is whoever says so: his messages pass, those in an agent's name do not.
	passes := message.To == "" || message.Signal == operational.SignalStop || caller.Has(principal.ScopeCaptain) && (!caller.IsOpen() || message.From == captainName)
	letter, err := b.post(ctx, message, passes)
	if err != nil {
		return Sent{}, err
	}
	if letter.Err != nil {
		return Sent{}, letter.Err
	}
	sent := Sent{
		Delivered: letter.delivered, Target: cmp.Or(message.To, Broadcast), Signal: message.Signal,
		MessageID: letter.Message.ID, Seq: letter.Message.Seq, Duplicate: letter.Duplicate, Redacted: redacted,
	}
	if letter.Duplicate && message.To != "" {
		if m := b.roster.member(message.To); m != nil {
			sent.Delivered = m.snapshot().DeliveredSeq >= sent.Seq
		}
	}
	if message.To != "" && !letter.Duplicate && b.roster.mayBeGroup(message.To) {
		b.hand(message)
	}
	return sent, nil
}

// post stores a message, if there is room for it or it passes all bounds.
func (b *Mailbox) post(ctx context.Context, message operational.Message, passes bool) (*letter, error) {
	l := &letter{MessageAppend: operational.MessageAppend{Message: message}}
	settle := func(bool) {}
	if !passes {
		var err error
		settle, err = b.reserve(ctx, message, senderShare)
		switch {
		case err == nil:
			l.reserved = true
		case message.IdempotencyKey == "" || errs.CodeOf(err) != errs.RateLimited:
			return nil, err
		default: // it may be one that was sent before, which takes no room
			l.Full, settle = err, func(bool) {}
		}
	}
	out := &b.outbox
	if message.Signal == operational.SignalStop {
		out, ctx = &b.urgent, committer.Essential(ctx)
	}
	_, err := out.Store(l, sendBatch, func(take func() []*letter) error { return b.append(ctx, take) })
	settle(err == nil && l.Err == nil && !l.Duplicate)
	return l, err
}

// append stores the letters of a batch, which is not given up when a sender goes away.
func (b *Mailbox) append(ctx context.Context, take func() []*letter) error {
	var batch []*letter
	return b.store.AppendMessages(context.WithoutCancel(ctx), func() []*operational.MessageAppend {
		batch = take()
		appends := make([]*operational.MessageAppend, len(batch))
		for i, l := range batch {
			appends[i] = &l.MessageAppend
		}
		return appends
	}, func() { b.announce(batch) })
}

// Tell sends a message of the router's own. If there is no room for it in the
// mailbox it is dropped and counted: nothing waits for it.
func (b *Mailbox) Tell(ctx context.Context, draft operational.MessageDraft) error {
	message, err := b.Compose(draft)
	if errs.CodeOf(err) == errs.RateLimited {
		return nil
	}
	if err != nil {
		return err
	}
	l, err := b.post(ctx, message, true) // Compose has looked for room
	if err != nil {
		return err
	}
	return l.Err
}

// mayHalt returns a Forbidden error for a signal that halts others, from whoever may not send it.
func (b *Mailbox) mayHalt(p principal.Principal, m operational.Message) error {
	name := strings.TrimSpace(m.Signal)                          // clients compare as they like
	resumes := strings.EqualFold(name, operational.SignalResume) // takes back what a captain asked, of the agent itself too
	if !resumes && !strings.EqualFold(name, operational.SignalStop) && !strings.EqualFold(name, operational.SignalPause) {
		return nil
	}
	if !b.options.OnlyCaptainsStop || p.Is(m.To) && !resumes || p.Has(principal.ScopeCaptain) {
		return nil
	}
	return errs.Errorf(errs.Forbidden,
		"an agent's token may stop or pause only its own agent, and resume none: ask a captain to, or let agents do it with the setting agents_may_stop")
}

// compose checks a draft and makes a message of it. Secrets are cut out of its
// context, and their kinds returned; a name that holds one is refused.
func compose(d operational.MessageDraft, now time.Time) (operational.Message, []string, error) {
	var none operational.Message
	if err := check.AgentID("from_agent_id", d.From); err != nil {
		return none, nil, err
	}
	if d.To != "" {
		if err := check.AgentID("to_agent_id", d.To); err != nil {
			return none, nil, err
		}
	}
	if err := cmp.Or(checkSignal(d.Signal), check.Name("idempotency_key", d.IdempotencyKey), check.Name("thread_id", d.ThreadID)); err != nil {
		return none, nil, err
	}
	if d.Each && (d.To == "" || operational.Halts(d.Signal)) {
		return none, nil, errs.InvalidField("each", "is for a message to a group: name it in to_agent_id; what halts goes to all of its members that live")
	}
	if d.Priority < -MaxPriority || d.Priority > MaxPriority {
		return none, nil, errs.InvalidField("priority", "must lie between %d and %d", -MaxPriority, MaxPriority)
	}
	if d.TTLSeconds < 0 || d.TTLSeconds > int64(MaxTTL/time.Second) {
		return none, nil, errs.InvalidField("ttl_seconds", "must lie between 0 and %d", int64(MaxTTL/time.Second))
	}
	content, err := compact(d.Context)
	if err != nil {
		return none, nil, err
	}
	var redaction redact.Redaction
	content = redaction.JSON(content)
	m := operational.Message{
		From: d.From, To: d.To, Signal: d.Signal, Context: content, Priority: d.Priority, ThreadID: d.ThreadID,
		AckRequired: d.AckRequired, Each: d.Each, IdempotencyKey: d.IdempotencyKey, CreatedAt: plain(now),
	}
	ttl := time.Duration(d.TTLSeconds) * time.Second
	if d.Each && ttl == 0 {
		ttl = EachTTL
	}
	if ttl > 0 {
		expires := m.CreatedAt.Add(ttl)
		m.ExpiresAt = &expires
	}
	return m, redaction.Kinds(), nil
}

// checkSignal refuses what could not be the name of a server-sent event.
func checkSignal(name string) error {
	if err := check.Required("signal", name, check.MaxName); err != nil {
		return err
	}
	return check.Name("signal", name)
}

// compact checks a context and takes the white space out of it, so that it
// holds no line break and the same content has the same bytes.
func compact(raw json.RawMessage) (json.RawMessage, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	if len(raw) > MaxContext {
		return nil, check.Text("context", string(raw), MaxContext)
	}
	var out bytes.Buffer
	if err := json.Compact(&out, raw); err != nil || !Object(raw) {
		return nil, errs.InvalidField("context", "must be a JSON object")
	}
	if out.String() == "{}" {
		return nil, nil
	}
	if err := check.Text("context", out.String(), MaxContext); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// announce tells whoever is concerned of the messages of a batch that was
// just stored. It runs in commit order, and never waits.
func (b *Mailbox) announce(letters []*letter) {
	fresh := make([]*letter, 0, len(letters))
	general := false
	for _, l := range letters {
		if l.Err != nil || l.Duplicate {
			continue
		}
		if !l.reserved {
			b.took(l.Message)
		}
		fresh = append(fresh, l)
		if l.Message.To == "" {
			general = true
			b.roster.broadcasts.Add(1)
		} else if m := b.roster.member(l.Message.To); m != nil {
			m.mail.Add(1)
		}
		if l.Message.To != "" && b.roster.mayBeGroup(l.Message.To) {
			b.grouped.Add(1)
		}
		if l.Message.Signal == operational.SignalStop || l.Message.Signal == operational.SignalResume {
			b.roster.stop(l.Message)
		}
		l.delivered = b.beyond.has(l.Message.To, b.now())
		b.newest.Store(l.Message.Seq)
	}
	b.live.mu.RLock()
	defer b.live.mu.RUnlock()
	if general {
		for _, streams := range b.live.agents {
			for _, s := range streams {
				s.offer(fresh)
			}
		}
		return
	}
	for i, l := range fresh {
		for _, s := range b.live.agents[l.Message.To] {
			s.offer(fresh[i : i+1])
		}
	}
}
