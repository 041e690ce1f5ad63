// Package store keeps the learning domain in learning.db.
// It owns the rows and the queries, translates the database's errors, and
// writes each change together with its event. It must not decide anything
// that a domain rule could decide.
package store

import (
	"context"
	"time"

	"gorm.io/gorm"

	"skillrouter/internal/committer"
	"skillrouter/internal/eventlog"
)

// Store is learning.db: reading connections, and the one committer.
type Store struct {
	read   *gorm.DB
	commit *committer.Committer[*gorm.DB]
	events committer.Bell
}

// New makes a Store on an open and migrated database.
func New(read *gorm.DB, commit *committer.Committer[*gorm.DB]) *Store {
	return &Store{read: read, commit: commit}
}

var eventColumns = []string{"seq", "type", "subject", "agent_id", "project", "at", "data"}

// appendEvents writes events into the transaction of the change that they tell of.
func appendEvents(tx *gorm.DB, events []eventlog.Event) error {
	numbers := committer.NumbersOf(tx.Statement.Context)
	return insert(tx, "events", eventColumns, len(events), func(i int, row []any) []any {
		e := events[i]
		var data any
		if len(e.Data) > 0 {
			data = string(e.Data)
		}
		return append(row, numbers.Next("events"), e.Type, e.Subject, e.Agent, e.Project, millis(e.At), data)
	})
}

// transaction is one that changes share, for all that the domain decides in one.
type transaction struct{ db *gorm.DB }

// AddEvents writes the events of what the transaction changes.
func (tx *transaction) AddEvents(events ...eventlog.Event) error {
	return appendEvents(tx.db, events)
}

// queue puts a change in the line of those that wait for a transaction.
// After the commit it runs after, if there is one, and rings the bell.
func (s *Store) queue(ctx context.Context, apply func(tx *gorm.DB) error, after func()) (wait func() error) {
	return s.commit.Queue(ctx, apply, func() {
		if after != nil {
			after()
		}
		s.events.Ring()
	})
}

// MaxEvents bounds one answer of Events.
const MaxEvents = 1000

// Events returns up to limit events after seq, in order.
func (s *Store) Events(ctx context.Context, after int64, limit int) ([]eventlog.Event, error) {
	return eventsOf(s.read.WithContext(ctx), "WHERE seq > ? ORDER BY seq LIMIT ?", after, min(limit, MaxEvents))
}

// EventBell rings after each commit that wrote an event.
func (s *Store) EventBell() *committer.Bell { return &s.events }

func millis(t time.Time) int64 { return t.UnixMilli() }

func fromMillis(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

func fromMillisPtr(ms *int64) *time.Time {
	if ms == nil {
		return nil
	}
	t := fromMillis(*ms)
	return &t
}

func millisPtr(t *time.Time) *int64 {
	if t == nil {
		return nil
	}
	ms := t.UnixMilli()
	return &ms
}
