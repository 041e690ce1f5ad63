package comms

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/committer"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/operational"
)

// Bounds of subscriptions.
const (
	// MaxStreams bounds the open subscriptions: each costs about 28 KB with its
	// connection, so that all of them fit beside everything else in 512 MB.
	MaxStreams = 8192
	// MaxStreamsPerAgent leaves room for reconnects whose predecessors are not
	// noticed yet, and keeps one agent from taking all the streams.
	MaxStreamsPerAgent = 16
	// lagMessages is how many messages a subscriber may not have taken yet and still counts as one that has kept up.
	lagMessages = 256
	// pageMessages and pageBytes bound what a subscriber reads of the log at once.
	pageMessages = 500
	pageBytes    = 256 << 10
	// maxSkipped bounds how many messages, acknowledged one by one beyond the
	// agent's cursor, are remembered so as not to be sent again.
	maxSkipped = 10_000
)

// Cursor says where in the log a subscriber begins.
type Cursor struct {
	After  int64 // the last seq that it has
	Chosen bool  // it asks for what lies after it on purpose, also from before it was known
}

// live is the open subscriptions.
type live struct {
	mu     sync.RWMutex
	agents map[string][]*Subscription
	count  int
}

// Subscription is one reader of one agent's messages. Take is for one
// goroutine at a time.
type Subscription struct {
	mailbox *Mailbox
	member  *member
	caller  principal.Principal
	joined  int64
	skip    map[int64]bool
	ready   chan struct{}

	cursor int64 // everything up to here was taken

	mu   sync.Mutex
	lag  int  // messages that it was rung for since it looked last
	over bool // see Interrupt
}

// Subscribe begins to listen to an agent's messages: those after the cursor,
// or, without one, from the first that the agent has not acknowledged. The
// agent becomes known by it. The caller must be that agent, or a Captain.
//
// Broadcasts from before an agent was known are not for it, unless it asks for
// them: by a cursor that is Chosen, is 0, or comes with its first contact. From
// then on they are for it. A cursor beyond the end of the log comes from
// another log; the agent's own is taken instead, so that nothing is lost.
func (b *Mailbox) Subscribe(ctx context.Context, agentID string, cursor *Cursor) (*Subscription, error) {
	if err := check.AgentID("agent_id", agentID); err != nil {
		return nil, err
	}
	if err := principal.Of(ctx).ActAs(agentID); err != nil {
		return nil, err
	}
	if cursor != nil && cursor.After < 0 {
		return nil, errs.InvalidField("last_event_id", "must not be negative")
	}
	var err error
	if cursor, err = b.own(ctx, agentID, cursor); err != nil {
		return nil, err
	}
	reach, collect := b.reach, b.collect
	if b.options.Listens != nil {
		reach, collect = b.reachAside, b.listens
	}
	m, err := reach(ctx, agentID, cursor)
	if err != nil {
		return nil, err
	}
	s := &Subscription{mailbox: b, member: m, caller: principal.Of(ctx), ready: make(chan struct{}, 1)}
	record := m.snapshot()
	s.joined, s.cursor = record.JoinedSeq, record.AckedSeq
	if cursor != nil {
		s.cursor = cursor.After
	} else {
		skip, err := b.store.AckedAfter(ctx, agentID, s.cursor, maxSkipped)
		if err != nil {
			return nil, err
		}
		s.skip = make(map[int64]bool, len(skip))
		for _, seq := range skip {
			s.skip[seq] = true
		}
	}
	if err := b.live.add(s); err != nil {
		return nil, err
	}
	if err := collect(ctx, m); err != nil {
		s.Close()
		return nil, err
	}
	s.ring()
	return s, nil
}

// own returns nil for a cursor that lies beyond the end of the log.
func (b *Mailbox) own(ctx context.Context, agentID string, cursor *Cursor) (*Cursor, error) {
	if cursor == nil || cursor.After <= b.newest.Load() {
		return cursor, nil
	}
	last, err := b.store.LastSeq(ctx) // what was stored may not be announced yet
	if err != nil || cursor.After <= last {
		return cursor, err
	}
	b.log.Warn("a subscriber's cursor lies beyond the log", "agent_id", agentID, "cursor", cursor.After, "last", last)
	return nil, nil
}

// reach makes an agent known, and gives it the earlier broadcasts that its cursor asks for.
func (b *Mailbox) reach(ctx context.Context, agentID string, cursor *Cursor) (*member, error) {
	var joined *int64
	if cursor != nil {
		joined = &cursor.After
	}
	m, made, err := b.roster.ensure(ctx, agentID, joined)
	if err != nil || made || cursor == nil || !cursor.Chosen && cursor.After != 0 {
		return m, err
	}
	if cursor.After >= m.snapshot().JoinedSeq {
		return m, nil
	}
	return m, b.roster.store.LowerJoined(ctx, agentID, cursor.After, func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.record.JoinedSeq = min(m.record.JoinedSeq, cursor.After)
		m.mail.Add(1)
	})
}

func (l *live) add(s *Subscription) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.count >= MaxStreams {
		return errs.Errorf(errs.Unavailable, "%d streams are open: the router takes no more", MaxStreams)
	}
	if len(l.agents[s.member.id]) >= MaxStreamsPerAgent {
		return errs.Errorf(errs.RateLimited, "this agent has %d streams open: close one first", MaxStreamsPerAgent)
	}
	l.agents[s.member.id] = append(l.agents[s.member.id], s)
	l.count++
	return nil
}

// Close ends the subscription. It may be called more than once.
func (s *Subscription) Close() {
	l := &s.mailbox.live
	l.mu.Lock()
	defer l.mu.Unlock()
	streams := l.agents[s.member.id]
	at := slices.Index(streams, s)
	if at < 0 {
		return
	}
	l.count--
	if len(streams) == 1 {
		delete(l.agents, s.member.id)
		return
	}
	l.agents[s.member.id] = slices.Delete(slices.Clone(streams), at, at+1)
}

// Streams returns how many subscriptions are open.
func (b *Mailbox) Streams() int {
	b.live.mu.RLock()
	defer b.live.mu.RUnlock()
	return b.live.count
}

// Ready is signalled when Take may have something.
func (s *Subscription) Ready() <-chan struct{} { return s.ready }

func (s *Subscription) ring() { committer.Nudge(s.ready) }

// offer rings for those of the letters that are for the agent, and notes on them that they were handed over if it has kept up. It never waits.
func (s *Subscription) offer(letters []*letter) {
	s.mu.Lock()
	before := s.lag
	for _, l := range letters {
		if s.wants(l.Message) {
			l.delivered = l.delivered || s.lag < lagMessages
			s.lag++
		}
	}
	wake := s.lag > before
	s.mu.Unlock()
	if wake {
		s.ring()
	}
}

// wants tells whether a message is for the agent.
func (s *Subscription) wants(m operational.Message) bool {
	return (m.To == s.member.id || m.To == "" && m.From != s.member.id && m.Seq > s.joined) && s.mailbox.roster.shows(s.caller, m)
}

// Take returns the next messages in order, without waiting; none means that
// there are no more until Ready is signalled. They are not yet delivered: see Delivered.
func (s *Subscription) Take(ctx context.Context) ([]operational.Message, error) {
	for {
		s.mu.Lock()
		over := s.over
		s.lag = 0 // what comes from here on is rung for again
		s.mu.Unlock()
		if over {
			return nil, errs.Errorf(errs.Unavailable, "this router does not know what is new: ask another")
		}
		messages, more, err := s.page(ctx)
		if err != nil || len(messages) > 0 || !more {
			return messages, err
		}
	}
}

// page reads the next page of the log, and tells whether there is more.
func (s *Subscription) page(ctx context.Context) (messages []operational.Message, more bool, err error) {
	b := s.mailbox
	newest := b.newest.Load()
	messages, more, err = b.store.Mail(ctx, operational.MailQuery{
		AgentID: s.member.id, JoinedSeq: s.joined, After: s.cursor, Now: b.now(), Limit: pageMessages, MaxBytes: pageBytes,
	})
	if err != nil {
		return nil, false, err
	}
	if b.options.Listens != nil { // what another router has stored since is handed on once this one knows what was stored before it; see Follow
		if at := slices.IndexFunc(messages, func(m operational.Message) bool { return m.Seq > newest }); at >= 0 {
			messages, more = messages[:at], false
		}
	}
	if len(messages) > 0 {
		s.cursor = messages[len(messages)-1].Seq
	}
	return slices.DeleteFunc(b.roster.shown(s.caller, messages), func(m operational.Message) bool { return s.skip[m.Seq] }), more, nil
}

// Delivered notes that messages were written to the agent. All earlier messages count as
// delivered too, because the subscriber has received them or said so by its cursor.
// Run writes the mark; only one that can expire is written here.
func (s *Subscription) Delivered(messages []operational.Message) {
	if len(messages) == 0 {
		return
	}
	s.member.deliveredThrough(messages[len(messages)-1].Seq, s.mailbox.now())
	s.mailbox.handedSingly(s.mailbox.base, s.member, messages)
}

// deliveredThrough moves the cumulative delivery mark in memory.
func (m *member) deliveredThrough(seq int64, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if seq > m.record.DeliveredSeq {
		m.record.DeliveredSeq, m.handed, m.handedAt = seq, true, now
	}
}
