package comms

import (
	"context"
	"sync"
	"time"

	"skillrouter/operational"
)

// maxHanded bounds the delivery marks on single messages that wait to be
// written. Beyond it further ones are not kept: they say when a message was
// handed over, and nothing is delivered or left out because of them.
const maxHanded = 50_000

// handed is the delivery marks on single messages that are not written yet.
type handed struct {
	mu    sync.Mutex
	marks map[mark]time.Time
}

// mark is a message that an agent was handed.
type mark struct {
	agentID string
	seq     int64
}

func (h *handed) add(agentID string, seq int64, at time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	one := mark{agentID, seq}
	if _, known := h.marks[one]; known || len(h.marks) >= maxHanded {
		return
	}
	if h.marks == nil {
		h.marks = map[mark]time.Time{}
	}
	h.marks[one] = at
}

// has tells whether a mark waits.
func (h *handed) has(agentID string, seq int64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, has := h.marks[mark{agentID, seq}]
	return has
}

// drain returns the marks and keeps none.
func (h *handed) drain() []operational.Delivery {
	h.mu.Lock()
	defer h.mu.Unlock()
	deliveries := make([]operational.Delivery, 0, len(h.marks))
	for one, at := range h.marks {
		deliveries = append(deliveries, operational.Delivery{AgentID: one.agentID, Seq: one.seq, At: at})
	}
	h.marks = nil
	return deliveries
}

// handedSingly notes that these messages, and not all before them, were handed to an agent.
func (b *Mailbox) handedSingly(m *member, messages []operational.Message) {
	now := b.now()
	m.mu.Lock()
	through := m.record.DeliveredSeq
	m.mu.Unlock()
	for _, one := range messages {
		if one.Seq > through || one.ExpiresAt != nil {
			b.handed.add(m.id, one.Seq, now)
		}
	}
}

// saveDeliveries writes the delivery marks that are only in memory.
func (b *Mailbox) saveDeliveries(ctx context.Context) error {
	deliveries := b.handed.drain()
	var members []*member
	for _, m := range b.roster.all() {
		m.mu.Lock()
		if m.handed {
			m.handed = false
			members = append(members, m)
			deliveries = append(deliveries, operational.Delivery{AgentID: m.id, Seq: m.record.DeliveredSeq, Through: true, At: m.handedAt})
		}
		m.mu.Unlock()
	}
	err := b.store.SaveDeliveries(ctx, deliveries)
	if err != nil { // they are tried again next time
		for _, m := range members {
			m.mu.Lock()
			m.handed = true
			m.mu.Unlock()
		}
		for _, d := range deliveries {
			if !d.Through {
				b.handed.add(d.AgentID, d.Seq, d.At)
			}
		}
	}
	return err
}
