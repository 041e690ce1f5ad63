package store

import (
	"context"

	"gorm.io/gorm"

	"github.com/skillrouter/skillrouter/internal/committer"
	"github.com/skillrouter/skillrouter/internal/database/table"
	"github.com/skillrouter/skillrouter/internal/defaults"
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
		events[i] = eventlog.Event{Seq: r.Seq, Type: operational.EventMessageSent, Subject: r.ID, Agent: r.From, At: r.CreatedAt}.With(operational.MessageEvent{
			ID: r.ID, Seq: r.Seq, From: r.From, To: r.To, Signal: r.Signal, Priority: r.Priority, ThreadID: r.ThreadID,
		})
	}
	return events, err
}

// envelopes are messages without what they say.
func (s *Store) envelopes(ctx context.Context, after int64, limit int) ([]operational.Message, error) {
	return table.List(s.Read.WithContext(ctx), func(m *operational.Message) []any {
		return []any{&m.Seq, &m.ID, &m.From, &m.To, &m.Signal, &m.Priority, &m.ThreadID, table.At(&m.CreatedAt)}
	}, "SELECT seq, id, from_agent, to_agent, signal, priority, thread_id, created_at FROM messages WHERE seq > ? ORDER BY seq LIMIT ?", after, min(limit, MaxEvents))
}

// MessageLog returns what the query selects, the latest first, and the seq
// before which the next page begins; 0: there is nothing before it. A thread
// has its index; everything else is looked through by seq, as far as Reach.
func (s *Store) MessageLog(ctx context.Context, q operational.LogQuery) ([]operational.Message, int64, error) {
	before := q.Before
	if last, err := s.LastSeq(ctx); err != nil {
		return nil, 0, err
	} else if before == 0 || before > last+1 {
		before = last + 1
	}
	floor := int64(0)
	var c table.Conditions
	c.Add("seq < ?", before)
	if q.Thread != "" {
		c.Add("thread_id <> '' AND thread_id = ?", q.Thread)
	} else if q.Agent != "" || q.Signal != "" {
		floor = max(before-int64(q.Reach), 0)
		c.Add("seq >= ?", floor)
	}
	switch {
	case q.Agent != "" && q.Kind:
		from, more := ofAgent("from_agent", q.Agent)
		to, _ := ofAgent("{unindexed}to_agent", q.Agent)
		c.Add("("+from+" OR "+to+" OR {unindexed}to_agent = '')", append(more, more...)...)
	case q.Agent != "":
		c.Add("(from_agent = ? OR {unindexed}to_agent = ? OR {unindexed}to_agent = '')", q.Agent, q.Agent)
	}
	c.Equal("{unindexed}signal", q.Signal)
	found, err := messages.List(s.Read.WithContext(ctx), c.Text+" ORDER BY seq DESC LIMIT ?", c.With(q.Limit+1)...)
	if len(found) > q.Limit {
		found = found[:q.Limit]
		return found, found[q.Limit-1].Seq, err
	}
	if floor <= 1 { // seqs begin with 1
		floor = 0
	}
	return defaults.List(found), floor, err
}

// takeable is true of a message to a group that an agent may have a copy of: what halts
// others is for those that lived when it was sent, and nobody gets what it sent itself.
// With for_each it may have one copy, and otherwise nobody may have one yet and who bears the group's name, if an
// agent does, may not have acknowledged it.
const takeable = `messages.copy_of IS NULL AND messages.from_agent <> ? AND lower(trim(messages.signal)) NOT IN ('stop', 'pause', 'resume')
	AND (messages.expires_at IS NULL OR messages.expires_at > ?)
	AND (messages.for_each AND NOT EXISTS (SELECT 1 FROM messages c WHERE c.copy_of = messages.seq AND c.to_agent = ?)
		OR NOT messages.for_each AND NOT EXISTS (SELECT 1 FROM receipts r WHERE r.agent_id = messages.to_agent AND r.seq = messages.seq AND r.acked_at IS NOT NULL)
			AND messages.seq > coalesce((SELECT a.acked_seq FROM agents a WHERE a.id = messages.to_agent), 0))`

// TakeGroupMail gives a member of groups its copies of what was sent to them, the oldest first,
// and says whether there is more. A message that is for the first member alone counts as
// acknowledged under the group's name from then on, so that nobody else takes it. id makes
// the copies' ids. taken gets the copies after the commit and in commit order.
func (s *Store) TakeGroupMail(ctx context.Context, q operational.GroupQuery, id func() string, taken func(copies []operational.Message)) (more bool, err error) {
	var copies []operational.Message
	// Most members find nothing: that is found out without a place in the queue of writes.
	found, err := s.groupMail(s.Read.WithContext(ctx), q)
	if err != nil || len(found) == 0 {
		return false, err
	}
	err = s.Commit.Write(ctx, func(tx *gorm.DB) error {
		copies, more = nil, false
		found, err := s.groupMail(tx, q)
		if err != nil {
			return err
		}
		if len(found) > q.Limit {
			found, more = found[:q.Limit], true
		}
		appends := make([]*operational.MessageAppend, len(found))
		for i, m := range found {
			if !m.Each {
				err := tx.Exec("INSERT INTO receipts (agent_id, seq, acked_at) VALUES (?, ?, ?) ON CONFLICT (agent_id, seq) DO UPDATE SET acked_at = excluded.acked_at",
					m.To, m.Seq, table.Millis(q.Now)).Error
				if err == nil && m.AckRequired {
					err = tx.Exec("UPDATE messages SET settled = true WHERE seq = ?", m.Seq).Error
				}
				if err != nil {
					return err
				}
			}
			m.ID, m.CopyOf, m.Group, m.To, m.Each, m.IdempotencyKey = id(), m.Seq, m.To, q.AgentID, false, ""
			appends[i] = &operational.MessageAppend{Message: m}
		}
		if err := insertMessages(tx, appends); err != nil {
			return err
		}
		for _, a := range appends {
			copies = append(copies, a.Message)
		}
		return nil
	}, func() {
		if len(copies) > 0 {
			s.mailed.Ring()
		}
		taken(copies)
	})
	return more, err
}

func (s *Store) groupMail(tx *gorm.DB, q operational.GroupQuery) ([]operational.Message, error) {
	var c table.Conditions
	table.Among(&c, "messages.to_agent", q.Groups)
	c.Add(takeable, q.AgentID, table.Millis(q.Now), q.AgentID)
	return messages.List(tx, c.Text+" ORDER BY seq LIMIT ?", c.With(q.Limit+1)...)
}
