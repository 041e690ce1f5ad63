package comms

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/operational"
)

// Of several routers on one database one writes. The others follow it: they hand the messages that it stored to those who
// listen to them, and tell it who that is and what was delivered.

const (
	// BeyondFor is how long agents count as listening to another router after that has said so.
	BeyondFor = 6 * time.Second
	// maxRouters bounds how many routers say who listens to them.
	maxRouters = 64
)

// beyond is who listens to other routers, and until when that is believed of each.
type beyond struct {
	mu      sync.Mutex
	routers map[string]*listeners
}

type listeners struct {
	agents map[string]bool
	until  time.Time
}

// Listening is who listens to a router.
type Listening struct {
	Agents []string
	All    bool // nobody else does any more
}

func (y *beyond) note(router string, l Listening, now time.Time) {
	y.mu.Lock()
	defer y.mu.Unlock()
	maps.DeleteFunc(y.routers, func(_ string, l *listeners) bool { return !now.Before(l.until) })
	if y.routers == nil {
		y.routers = map[string]*listeners{}
	}
	of := y.routers[router]
	if of == nil && len(y.routers) >= maxRouters {
		return
	}
	if of == nil || l.All {
		of = &listeners{agents: make(map[string]bool, len(l.Agents))}
		y.routers[router] = of
	}
	of.until = now.Add(BeyondFor)
	for _, id := range l.Agents[:min(len(l.Agents), MaxStreams)] {
		of.agents[id] = true
	}
}

func (y *beyond) has(id string, now time.Time) bool {
	y.mu.Lock()
	defer y.mu.Unlock()
	for _, l := range y.routers {
		if l.agents[id] && now.Before(l.until) {
			return true
		}
	}
	return false
}

// all are the agents that listen elsewhere.
func (y *beyond) all(now time.Time) (agents []string) {
	y.mu.Lock()
	defer y.mu.Unlock()
	for _, l := range y.routers {
		if now.Before(l.until) {
			agents = slices.AppendSeq(agents, maps.Keys(l.agents))
		}
	}
	return agents
}

// ListenBeyond notes who listens to another router, for BeyondFor, and gives each of them what waits for its groups. It is the routers' own, and asks for no right.
func (b *Mailbox) ListenBeyond(ctx context.Context, router string, l Listening) error {
	b.beyond.note(router, l, b.now())
	for _, id := range l.Agents {
		if m := b.roster.member(id); m != nil {
			if err := b.collect(ctx, m); err != nil {
				return err
			}
		}
	}
	return nil
}

// Interrupt ends the subscriptions of a router that does not know any more what is new: their agents find another.
func (b *Mailbox) Interrupt() {
	b.live.mu.RLock()
	defer b.live.mu.RUnlock()
	for _, streams := range b.live.agents {
		for _, s := range streams {
			s.mu.Lock()
			s.over = true
			s.mu.Unlock()
			s.ring()
		}
	}
}

// Listening are the agents that listen here, in no order.
func (b *Mailbox) Listening() []string {
	b.live.mu.RLock()
	defer b.live.mu.RUnlock()
	return slices.Collect(maps.Keys(b.live.agents))
}

// DeliveredBeyond takes in what another router delivered. It is written as what was delivered here. It is the routers' own, and asks for no right.
func (b *Mailbox) DeliveredBeyond(ctx context.Context, deliveries []operational.Delivery) error {
	var single []operational.Delivery
	for _, d := range deliveries {
		switch m := b.roster.member(d.AgentID); {
		case m == nil: // it was removed since
		case d.Through:
			m.deliveredThrough(d.Seq, d.At)
		default:
			single = append(single, d)
		}
	}
	return b.store.SaveDeliveries(ctx, single)
}

// Follow hands on what another router has stored, up to a seq, since it was called last, or since the start.
func (b *Mailbox) Follow(ctx context.Context, last int64) error {
	for b.newest.Load() < last {
		messages, err := b.store.MessagesAfter(ctx, b.newest.Load())
		messages = slices.DeleteFunc(messages, func(m operational.Message) bool { return m.Seq > last })
		if err != nil || len(messages) == 0 {
			return err
		}
		letters := make([]*letter, len(messages))
		for i, m := range messages {
			letters[i] = &letter{MessageAppend: operational.MessageAppend{Message: m}, reserved: true} // who writes counts what waits
		}
		b.announce(letters)
	}
	return nil
}

// reachAside is reach on a router that does not write. What would have to be written for a subscriber is the writer's to do.
func (b *Mailbox) reachAside(ctx context.Context, agentID string, cursor *Cursor) (*member, error) {
	if principal.Of(ctx).Walled() { // whose message is of which project changes where it is written
		return nil, errs.Errorf(errs.Unavailable, "the streams of a token that is bound to projects are the writer's")
	}
	m, err := b.roster.follow(ctx, agentID)
	if err != nil || cursor == nil || !cursor.Chosen && cursor.After != 0 {
		return m, err
	}
	if cursor.After < m.snapshot().JoinedSeq {
		return nil, errs.Errorf(errs.Unavailable, "earlier broadcasts are given by the router that writes")
	}
	return m, nil
}

// listens has the router that writes know that an agent listens here.
func (b *Mailbox) listens(ctx context.Context, m *member) error {
	return b.options.Listens(ctx, m.id)
}
