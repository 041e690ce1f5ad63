// Package store keeps the operational domain in operational.db through gorm.
// It owns the rows and the queries, translates the database's errors, and
// writes each change together with its event. It must not decide anything
// that a domain rule could decide.
package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"

	"gorm.io/gorm"

	"skillrouter/internal/committer"
	"skillrouter/internal/errs"
	"skillrouter/internal/eventlog"
)

// Store is operational.db: reading connections, and the one committer.
type Store struct {
	read   *gorm.DB
	commit *committer.Committer[*gorm.DB]
	events committer.Bell
	mailed committer.Bell
	swept  committer.Bell // rings after each commit that deleted messages
	words  taskWords
}

// New makes a Store on an open and migrated database.
func New(read *gorm.DB, commit *committer.Committer[*gorm.DB]) *Store {
	return &Store{read: read, commit: commit}
}

// snapshot runs reads that must all see the same state of the database.
func (s *Store) snapshot(ctx context.Context, read func(tx *gorm.DB) error) error {
	return s.read.WithContext(ctx).Transaction(read, &sql.TxOptions{ReadOnly: true})
}

// eventRow is a row of the event log.
type eventRow struct {
	Seq     int64 `gorm:"primaryKey;autoIncrement"`
	Type    string
	Subject string
	AgentID string
	Project string
	At      int64
	Data    *string
}

func (eventRow) TableName() string { return "events" }

// appendEvent writes an event into the transaction of the change that it tells of.
func appendEvent(tx *gorm.DB, e eventlog.Event) error {
	return appendEvents(tx, []eventlog.Event{e})
}

const insertEvents = "INSERT INTO events (seq, type, subject, agent_id, project, at, data) VALUES (?,?,?,?,?,?,?)"

// eventBatch is how many events one INSERT holds.
const eventBatch = 64

// appendEvents writes many events, in their order.
func appendEvents(tx *gorm.DB, events []eventlog.Event) error {
	numbers := committer.NumbersOf(tx.Statement.Context)
	for len(events) > 0 {
		n := min(len(events), eventBatch)
		args := make([]any, 0, 7*n)
		for _, e := range events[:n] {
			var data any
			if len(e.Data) > 0 {
				data = string(e.Data)
			}
			args = append(args, numbers.Next("events"), e.Type, e.Subject, e.Agent, e.Project, millis(e.At), data)
		}
		err := tx.Exec(insertEvents+strings.Repeat(",(?,?,?,?,?,?,?)", n-1), args...).Error
		if err != nil {
			return err
		}
		events = events[n:]
	}
	return nil
}

// MaxEvents bounds one answer of Events.
const MaxEvents = 1000

// Events returns up to limit events after seq, in order.
func (s *Store) Events(ctx context.Context, after int64, limit int) ([]eventlog.Event, error) {
	var rows []eventRow
	err := s.read.WithContext(ctx).Where("seq > ?", after).Order("seq").Limit(min(limit, MaxEvents)).Find(&rows).Error
	events := make([]eventlog.Event, 0, len(rows))
	for _, r := range rows {
		events = append(events, r.event())
	}
	return events, err
}

// EventBell rings after each commit that wrote an event.
func (s *Store) EventBell() *committer.Bell { return &s.events }

// write applies a change in the transaction that waiting changes share. After
// the commit it runs after, if there is one, and rings the bell. What refuse
// returned leaves the transaction as it is, and after is not run.
func (s *Store) write(ctx context.Context, apply func(tx *gorm.DB) error, after func()) error {
	var refused refusal
	err := s.commit.Write(ctx, func(tx *gorm.DB) error {
		refused = refusal{}
		err := apply(tx)
		if errors.As(err, &refused) {
			return nil
		}
		return err
	}, func() {
		if refused.error == nil && after != nil {
			after()
		}
		s.events.Ring()
	})
	return cmp.Or(err, refused.error)
}

// refusal is the error of a change that wrote nothing.
type refusal struct{ error }

// refuse tells write that a change ends before it has written anything. A database's error fails the transaction still.
func refuse(err error) error {
	if _, coded := errors.AsType[*errs.Error](err); coded {
		return refusal{err}
	}
	return err
}

func millis(t time.Time) int64 { return t.UnixMilli() }

func fromMillis(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

func millisPtr(t *time.Time) *int64 {
	if t == nil {
		return nil
	}
	ms := t.UnixMilli()
	return &ms
}

func fromMillisPtr(ms *int64) *time.Time {
	if ms == nil {
		return nil
	}
	t := fromMillis(*ms)
	return &t
}

// listOf reads the rows that a query answers, each as of has it.
func listOf[Row, T any](q *gorm.DB, of func(Row) T) ([]T, error) {
	var rows []Row
	if err := q.Find(&rows).Error; err != nil {
		return nil, err
	}
	list := make([]T, len(rows))
	for i, r := range rows {
		list[i] = of(r)
	}
	return list, nil
}

// notFound gives gorm's "no such row" the code and words that the caller needs.
func notFound(err error, format string, args ...any) error {
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return errs.Errorf(errs.NotFound, format, args...)
	}
	return err
}
