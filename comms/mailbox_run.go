package comms

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/skillrouter/skillrouter/internal/committer"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/operational"
)

const (
	// handedEvery is how often delivery marks are written; a crash loses at
	// most that much of them, and no message.
	handedEvery = 2 * time.Second
	// sweepEvery, sweepWindows and sweepWindow pace the sweep of old messages: up
	// to 50,000 a minute are examined, in pieces of a few milliseconds between
	// which signals go on.
	sweepEvery   = time.Minute
	sweepWindows = 100
	sweepWindow  = 500
)

// Run writes delivery marks and sweeps old messages away, until ctx ends; then
// it writes the marks that are left. The committer must outlive it.
func (b *Mailbox) Run(ctx context.Context) error {
	save := time.NewTicker(handedEvery)
	defer save.Stop()
	sweep := time.NewTicker(sweepEvery)
	defer sweep.Stop()
	var at int64 // where the sweep goes on
	for {
		select {
		case <-save.C:
			if err := b.saveDeliveries(ctx); err != nil && ctx.Err() == nil {
				b.log.Error("delivery marks could not be written", "error", err)
			}
		case <-sweep.C:
			var err error
			if at, err = b.Sweep(ctx, at); err != nil && ctx.Err() == nil {
				b.log.Error("old messages could not be swept away", "error", err)
			}
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTimeout)
			defer cancel()
			return b.saveDeliveries(last)
		}
	}
}

// Sweep examines the oldest messages after a seq, deletes those that were kept long enough, and returns where to go on: 0, from the beginning.
func (b *Mailbox) Sweep(ctx context.Context, at int64) (int64, error) {
	if b.options.Retention <= 0 {
		return 0, nil
	}
	deleted := 0
	for range sweepWindows {
		cutoff := b.now().Add(-b.options.Retention)
		lost, err := b.store.Unacknowledged(ctx, at, cutoff, sweepWindow)
		if err == nil {
			err = b.sendDeadLetters(ctx, lost)
		}
		if err != nil {
			return at, err
		}
		swept, err := b.store.Sweep(ctx, at, cutoff, sweepWindow)
		if err != nil {
			return at, err
		}
		deleted += swept.Deleted
		if at = swept.Next; at == 0 {
			break
		}
	}
	if deleted > 0 {
		b.log.Info("old messages swept away", "deleted", deleted)
	}
	return at, nil
}

// SignalDeadLetter is the signal of a dead letter.
const SignalDeadLetter = "dead_letter"

// deadLetter is what a dead letter says: what was deleted that somebody should have acknowledged.
type deadLetter struct {
	Reason   string       `json:"reason"`
	Count    int          `json:"count"`
	Messages []lostLetter `json:"messages"` // the first maxLost
}

type lostLetter struct {
	ID     string    `json:"message_id"`
	From   string    `json:"from_agent_id"`
	Signal string    `json:"signal"`
	Thread string    `json:"thread_id,omitempty"`
	SentAt time.Time `json:"sent_at"`
}

// maxLost bounds what a dead letter lists.
const maxLost = 50

// sendDeadLetters tells whom messages were for, or who sent them to all, that they are deleted without an acknowledgement. They have keys, so that a
// kill before the deletion has nobody told twice.
func (b *Mailbox) sendDeadLetters(ctx context.Context, lost []operational.Message) error {
	letters := map[string]*deadLetter{}
	last := map[string]string{} // the id of each one's last message
	for _, m := range lost {
		if m.Signal == SignalDeadLetter {
			continue
		}
		to := cmp.Or(m.To, m.From)
		if letters[to] == nil {
			letters[to] = &deadLetter{Reason: fmt.Sprintf("not acknowledged within %v of being sent", b.options.Retention)}
		}
		l := letters[to]
		if l.Count++; l.Count <= maxLost {
			l.Messages = append(l.Messages, lostLetter{m.ID, m.From, m.Signal, m.ThreadID, m.CreatedAt})
		}
		last[to] = m.ID
	}
	ctx = committer.Essential(principal.With(ctx, principal.System()))
	for _, to := range slices.Sorted(maps.Keys(letters)) {
		text, _ := json.Marshal(letters[to]) // texts and times cannot fail
		if _, err := b.Send(ctx, operational.MessageDraft{From: operational.RouterName, To: to, Signal: SignalDeadLetter, Context: text, IdempotencyKey: "dead-" + last[to]}); err != nil {
			return err
		}
	}
	return nil
}

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
