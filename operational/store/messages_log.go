package store

import (
	"context"

	"skillrouter"
)

// SignalLog is the stored messages as a log of events, for who follows the
// signals: the type is the signal's name, the subject the message's id.
type SignalLog struct{ store *Store }

// SignalLog returns the messages as a log of events.
func (s *Store) SignalLog() SignalLog { return SignalLog{s} }

// Events returns up to limit signals after seq, in order, without their contexts.
func (l SignalLog) Events(ctx context.Context, after int64, limit int) ([]skillrouter.Event, error) {
	var rows []struct {
		Seq       int64
		ID        string
		FromAgent string
		Signal    string
		CreatedAt int64
	}
	err := l.store.read.WithContext(ctx).Raw("SELECT seq, id, from_agent, signal, created_at FROM messages WHERE seq > ? ORDER BY seq LIMIT ?", after, min(limit, MaxEvents)).Scan(&rows).Error
	events := make([]skillrouter.Event, len(rows))
	for i, r := range rows {
		events[i] = skillrouter.Event{Seq: r.Seq, Type: r.Signal, Subject: r.ID, Agent: r.FromAgent, At: fromMillis(r.CreatedAt)}
	}
	return events, err
}

// LastEvent returns the seq of the newest signal.
func (l SignalLog) LastEvent(ctx context.Context) (int64, error) { return l.store.LastSeq(ctx) }

// EventBell rings after each commit that stored a message.
func (l SignalLog) EventBell() *skillrouter.Bell { return &l.store.mailed }
