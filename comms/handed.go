package comms

import (
	"context"

	"github.com/skillrouter/skillrouter/operational"
)

// handedSingly notes that these messages, and not all before them, were handed to an agent. A mark that cannot be written is dropped: it says
// when a message was handed over, and nothing is delivered or left out because of it.
func (b *Mailbox) handedSingly(ctx context.Context, m *member, messages []operational.Message) {
	now := b.now()
	through := m.snapshot().DeliveredSeq
	var deliveries []operational.Delivery
	for _, one := range messages {
		if one.Seq > through || one.ExpiresAt != nil { // a cumulative mark says nothing of one that can expire
			deliveries = append(deliveries, operational.Delivery{AgentID: m.id, Seq: one.Seq, At: now})
		}
	}
	if err := b.store.SaveDeliveries(ctx, deliveries); err != nil {
		b.log.Warn("it is not noted that messages were handed over", "agent_id", m.id, "error", err)
	}
}

// saveDeliveries writes the cumulative delivery marks that are only in memory.
func (b *Mailbox) saveDeliveries(ctx context.Context) error {
	var deliveries []operational.Delivery
	return b.roster.save(func(m *member) *bool { return &m.handed }, func(m *member) {
		deliveries = append(deliveries, operational.Delivery{AgentID: m.id, Seq: m.record.DeliveredSeq, Through: true, At: m.handedAt})
	}, func() error { return b.store.SaveDeliveries(ctx, deliveries) })
}
