package comms

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/operational"
)

// Bounds of a mailbox: of the messages to one agent that it has not
// acknowledged. A broadcast lies in no mailbox.
const (
	// MaxUnacked is how many there may be: an agent that is this far behind reads none of them any more.
	MaxUnacked = 10_000
	// MaxUnackedBytes is how long their contexts may be together, in bytes.
	MaxUnackedBytes = 64 << 20
	// senderShare is the part of both that one sender may take, so that no sender keeps the others out. All agents of one token are one.
	senderShare = 4
	// recountEvery is how often a full mailbox is counted again though nothing was
	// acknowledged: messages expire, and are swept away.
	recountEvery = time.Second
)

// tally is a number of messages, and the length of their contexts.
type tally struct {
	n     int
	bytes int64
}

func (t tally) plus(o tally) tally { return tally{t.n + o.n, t.bytes + o.bytes} }

func (t tally) minus(o tally) tally { return tally{t.n - o.n, t.bytes - o.bytes} }

// within tells whether it stays under one part in share of a mailbox.
func (t tally) within(share int) bool {
	return t.n <= MaxUnacked/share && t.bytes <= int64(MaxUnackedBytes/share)
}

// box is what is known of one mailbox. Its figures are never too small: they
// grow with each message, and are read from the database only when they reach a
// bound. So sending costs no query, but one for each bound that is reached.
type box struct {
	mu      sync.Mutex
	counted time.Time         // when the database was asked last; zero: never
	acked   bool              // something was acknowledged since
	twice   bool              // something was on its way then, and may have been counted twice
	all     tally             // with what is on its way
	from    map[string]tally  // the same by holder
	flying  map[string]tally  // of that, what is on its way to the database
	holder  map[string]string // by the name of a sender: the agent of the token that it sent with; the name, if that is nobody's
}

// holderOf is whom a sender's messages count for. After a start all sessions of one kind are one, until they send again.
func (x *box) holderOf(sender string) string {
	if holder, known := x.holder[sender]; known {
		return holder
	}
	return principal.KindOf(sender)
}

// boxes are the mailboxes that something was sent to since the start.
type boxes struct {
	mu      sync.Mutex
	byAgent map[string]*box
	dropped atomic.Int64 // the router's own messages that found no room
}

func (b *boxes) of(agent string) *box {
	b.mu.Lock()
	defer b.mu.Unlock()
	if found := b.byAgent[agent]; found != nil {
		return found
	}
	if b.byAgent == nil || len(b.byAgent) >= MaxAgents { // anybody may name anybody: what is forgotten is counted again
		b.byAgent = map[string]*box{}
	}
	made := &box{from: map[string]tally{}, flying: map[string]tally{}, holder: map[string]string{}}
	b.byAgent[agent] = made
	return made
}

// acked says that an agent has acknowledged something.
func (b *boxes) acked(agent string) {
	box := b.of(agent)
	box.mu.Lock()
	defer box.mu.Unlock()
	box.acked = true
}

// errBoxFull refuses a message for which there is no room.
func errBoxFull(message string) error {
	return &errs.Error{Code: errs.RateLimited, Field: "to_agent_id", Message: message}
}

// reserve takes the room of a message in its mailbox, or says why there is none. Its sender
// may take one part in share of it: that is senderShare, or 1 of the router itself.
// settle, which is nil if no room was taken, must be called once the message is stored or is not.
func (b *Mailbox) reserve(ctx context.Context, m operational.Message, share int) (settle func(stored bool), err error) {
	if m.To == "" {
		return func(bool) {}, nil
	}
	x := b.boxes.of(m.To)
	x.mu.Lock()
	defer x.mu.Unlock()
	one, holder := tally{1, int64(len(m.Context))}, cmp.Or(principal.Of(ctx).Bound(), m.From)
	x.holder[m.From] = holder
	fits := func() error {
		switch {
		case !x.all.plus(one).within(1):
			return errBoxFull("has a full mailbox: 10,000 messages or 64 MiB wait for its acknowledgement")
		case !x.from[holder].plus(one).within(share):
			return errBoxFull("has not acknowledged 2,500 messages or 16 MiB of this sender, with all agents of its token: wait until it does")
		}
		return nil
	}
	err = fits()
	ago := b.now().Sub(x.counted) // negative: the clock was set back
	if x.counted.IsZero() || err != nil && (x.acked || x.twice && len(x.flying) == 0 || ago < 0 || ago >= recountEvery) {
		if failed := b.recount(ctx, m.To, x); failed != nil {
			return nil, failed
		}
		err = fits()
	}
	if err != nil {
		return nil, err
	}
	x.all, x.from[holder], x.flying[holder] = x.all.plus(one), x.from[holder].plus(one), x.flying[holder].plus(one)
	return func(stored bool) {
		x.mu.Lock()
		defer x.mu.Unlock()
		if left := x.flying[holder].minus(one); left.n > 0 {
			x.flying[holder] = left
		} else {
			delete(x.flying, holder)
		}
		if !stored {
			x.all, x.from[holder] = x.all.minus(one), x.from[holder].minus(one)
		}
	}, nil
}

// recount reads what waits in a mailbox from the database; x.mu is held. What is
// on its way may be counted twice, until the next time.
func (b *Mailbox) recount(ctx context.Context, agent string, x *box) error {
	query := operational.MailQuery{AgentID: agent, Now: b.now()}
	if m := b.roster.member(agent); m != nil {
		query.AckedSeq = m.snapshot().AckedSeq
	}
	x.acked, x.twice = false, len(x.flying) > 0
	waiting, err := b.store.MailWaiting(ctx, query)
	if err != nil {
		return err
	}
	x.counted, x.all = b.now(), tally{}
	clear(x.from)
	for _, w := range waiting {
		holder := x.holderOf(w.From)
		x.from[holder] = x.from[holder].plus(tally{w.Count, w.Bytes})
	}
	for holder, t := range x.flying {
		x.from[holder] = x.from[holder].plus(t)
	}
	for _, t := range x.from {
		x.all = x.all.plus(t)
	}
	return nil
}

// took counts a message that was stored without a place of its own: what passes
// the bounds, and what the router stores beside something else.
func (b *Mailbox) took(m operational.Message) {
	if m.To == "" {
		return
	}
	x := b.boxes.of(m.To)
	x.mu.Lock()
	defer x.mu.Unlock()
	one := tally{1, int64(len(m.Context))}
	holder := x.holderOf(m.From)
	x.all, x.from[holder] = x.all.plus(one), x.from[holder].plus(one)
}

// Dropped returns how many of the router's own messages found no room since the start.
func (b *Mailbox) Dropped() int64 { return b.boxes.dropped.Load() }
