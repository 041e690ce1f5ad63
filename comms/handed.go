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
	mu     sync.Mutex
	agents map[string]map[int64]time.Time
	count  int
}

func (h *handed) add(agentID string, seq int64, at time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.count >= maxHanded {
		return
	}
	if h.agents == nil {
		h.agents = map[string]map[int64]time.Time{}
	}
	if h.agents[agentID] == nil {
		h.agents[agentID] = map[int64]time.Time{}
	}
	if _, known := h.agents[agentID][seq]; !known {
		h.agents[agentID][seq] = at
		h.count++
	}
}

// has tells whether a mark waits.
func (h *handed) has(agentID string, seq int64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, has := h.agents[agentID][seq]
	return has
}

// drain returns the marks and keeps none.
func (h *handed) drain() []operational.Delivery {
	h.mu.Lock()
	defer h.mu.Unlock()
	deliveries := make([]operational.Delivery, 0, h.count)
	for id, seqs := range h.agents {
		for seq, at := range seqs {
			deliveries = append(deliveries, operational.Delivery{AgentID: id, Seq: seq, At: at})
		}
	}
	h.agents, h.count = nil, 0
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
