package comms

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"time"

	"skillrouter"
	"skillrouter/operational"
)

// Of several routers on one database one writes. The others follow it: they hand the messages that it stored to those who
// listen to them, and tell it who that is and what was delivered.

const (
	// BeyondFor is how long an agent counts as listening to another router after that has said so.
	BeyondFor = 15 * time.Second
	// maxBeyond bounds how many agents that are in all: more than so many routers have streams.
	maxBeyond = 16 * MaxStreams
)

// beyond is who listens to other routers, and until when that is believed.
type beyond struct {
	mu     sync.Mutex
	agents map[string]time.Time
}

func (y *beyond) add(id string, until time.Time) (added bool) {
	y.mu.Lock()
	defer y.mu.Unlock()
	if y.agents == nil {
		y.agents = map[string]time.Time{}
	}
	if _, known := y.agents[id]; !known && len(y.agents) >= maxBeyond {
		return false
	}
	y.agents[id] = until
	return true
}

func (y *beyond) has(id string, now time.Time) bool {
	y.mu.Lock()
	defer y.mu.Unlock()
	until, known := y.agents[id]
	return known && now.Before(until)
}

// all are the agents that listen elsewhere.
func (y *beyond) all(now time.Time) []string {
	y.mu.Lock()
	defer y.mu.Unlock()
	maps.DeleteFunc(y.agents, func(_ string, until time.Time) bool { return !now.Before(until) })
	return slices.Collect(maps.Keys(y.agents))
}

// ListenBeyond notes that agents listen to another router, for BeyondFor, and gives each what waits for its groups. It is the routers' own, and asks for no right.
func (b *Mailbox) ListenBeyond(ctx context.Context, agents []string) error {
	now := b.now()
	for _, id := range agents {
		m := b.roster.member(id)
		if m == nil || !b.beyond.add(id, now.Add(BeyondFor)) {
			continue
		}
		if err := b.collect(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

// Listening are the agents that listen here, in no order.
func (b *Mailbox) Listening() []string {
	b.live.mu.RLock()
	defer b.live.mu.RUnlock()
	return slices.Collect(maps.Keys(b.live.agents))
}

// DeliveredBeyond takes in what another router delivered. It is written as what was delivered here. It is the routers' own, and asks for no right.
func (b *Mailbox) DeliveredBeyond(deliveries []operational.Delivery) {
	for _, d := range deliveries {
		switch m := b.roster.member(d.AgentID); {
		case m == nil: // it was removed since
		case d.Through:
			m.deliveredThrough(d.Seq, d.At)
		default:
			b.handed.add(d.AgentID, d.Seq, d.At)
		}
	}
}

// Follow hands on what another router has stored since it was called last, or since the start.
func (b *Mailbox) Follow(ctx context.Context) error {
	for {
		messages, err := b.store.MessagesAfter(ctx, b.tail.newest())
		if err != nil || len(messages) == 0 {
			return err
		}
		letters := make([]*letter, len(messages))
		for i, m := range messages {
			l := &letter{MessageAppend: operational.MessageAppend{Message: m}, reserved: true} // who writes counts what waits
			m.Seq = 0
			if l.body, err = json.Marshal(m); err != nil {
				return err
			}
			letters[i] = l
		}
		b.announce(letters)
	}
}

// reachAside is reach on a router that does not write. What would have to be written for a subscriber is the writer's to do.
func (b *Mailbox) reachAside(ctx context.Context, agentID string, cursor *Cursor) (*member, error) {
	if skillrouter.PrincipalOf(ctx).Walled() { // whose message is of which project changes where it is written
		return nil, skillrouter.Errorf(skillrouter.Unavailable, "the streams of a token that is bound to projects are the writer's")
	}
	m, err := b.roster.follow(ctx, agentID)
	if err != nil || cursor == nil || !cursor.Chosen && cursor.After != 0 {
		return m, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if cursor.After < m.record.JoinedSeq {
		return nil, skillrouter.Errorf(skillrouter.Unavailable, "earlier broadcasts are given by the router that writes")
	}
	return m, nil
}

// listens has the router that writes know that an agent listens here.
func (b *Mailbox) listens(ctx context.Context, m *member) error {
	return b.options.Listens(ctx, m.id)
}
