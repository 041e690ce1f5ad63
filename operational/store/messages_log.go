package store

import (
	"context"
	"encoding/json"

	"github.com/skillrouter/skillrouter/internal/committer"
	"github.com/skillrouter/skillrouter/internal/database/table"
	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/operational"
)

// SignalLog is the stored messages as a log of events, for who follows the
// signals: the type is the signal's name, the subject the message's id.
type SignalLog struct{ store *Store }

// SignalLog returns the messages as a log of events.
func (s *Store) SignalLog() SignalLog { return SignalLog{s} }

// Events returns up to limit signals after seq, in order, without their contexts.
func (l SignalLog) Events(ctx context.Context, after int64, limit int) ([]eventlog.Event, error) {
	rows, err := l.store.envelopes(ctx, after, limit)
	events := make([]eventlog.Event, len(rows))
	for i, r := range rows {
		events[i] = eventlog.Event{Seq: r.Seq, Type: r.Signal, Subject: r.ID, Agent: r.From, At: r.CreatedAt}
	}
	return events, err
}

// LastEvent returns the seq of the newest signal.
func (l SignalLog) LastEvent(ctx context.Context) (int64, error) { return l.store.LastSeq(ctx) }

// EventBell rings after each commit that stored a message.
func (l SignalLog) EventBell() *committer.Bell { return &l.store.mailed }

// PostLog is the stored messages as events of one type that tell who sent
// what signal to whom, for the feed.
type PostLog struct{ SignalLog }

// PostLog returns the messages as events that tell of them.
func (s *Store) PostLog() PostLog { return PostLog{s.SignalLog()} }

// Events returns up to limit messages after seq, in order, without their contexts.
func (l PostLog) Events(ctx context.Context, after int64, limit int) ([]eventlog.Event, error) {
	rows, err := l.store.envelopes(ctx, after, limit)
	events := make([]eventlog.Event, len(rows))
	for i, r := range rows {
		// Marshalling strings and whole numbers cannot fail.
		data, _ := json.Marshal(operational.MessageEvent{
			ID: r.ID, Seq: r.Seq, From: r.From, To: r.To, Signal: r.Signal, Priority: r.Priority, ThreadID: r.ThreadID,
		})
		events[i] = eventlog.Event{
			Seq: r.Seq, Type: operational.EventMessageSent, Subject: r.ID, Agent: r.From, At: r.CreatedAt, Data: data,
		}
	}
	return events, err
}

// envelopes are messages without what they say.
func (s *Store) envelopes(ctx context.Context, after int64, limit int) ([]operational.Message, error) {
	return table.List(s.Read.WithContext(ctx), func(m *operational.Message) []any {
		return []any{&m.Seq, &m.ID, &m.From, &m.To, &m.Signal, &m.Priority, &m.ThreadID, table.At(&m.CreatedAt)}
	}, "SELECT seq, id, from_agent, to_agent, signal, priority, thread_id, created_at FROM messages WHERE seq > ? ORDER BY seq LIMIT ?", after, min(limit, MaxEvents))
}
