// Package store keeps the operational domain in operational.db through gorm.
// It owns the rows and the queries, translates the database's errors, and
// writes each change together with its event. It must not decide anything
// that a domain rule could decide.
package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"gorm.io/gorm"

	"skillrouter"
)

// Store is operational.db: reading connections, and the one committer.
type Store struct {
	read   *gorm.DB
	commit *skillrouter.Committer[*gorm.DB]
	events skillrouter.Bell
	mailed skillrouter.Bell
	swept  skillrouter.Bell // rings after each commit that deleted messages
}

// New makes a Store on an open and migrated database.
func New(read *gorm.DB, commit *skillrouter.Committer[*gorm.DB]) *Store {
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
func appendEvent(tx *gorm.DB, e skillrouter.Event) error {
	row := eventRow{Type: e.Type, Subject: e.Subject, AgentID: e.Agent, Project: e.Project, At: millis(e.At)}
	if len(e.Data) > 0 {
		text := string(e.Data)
		row.Data = &text
	}
	return tx.Create(&row).Error
}

// MaxEvents bounds one answer of Events.
const MaxEvents = 1000

// Events returns up to limit events after seq, in order.
func (s *Store) Events(ctx context.Context, after int64, limit int) ([]skillrouter.Event, error) {
	var rows []eventRow
	err := s.read.WithContext(ctx).Where("seq > ?", after).Order("seq").Limit(min(limit, MaxEvents)).Find(&rows).Error
	events := make([]skillrouter.Event, 0, len(rows))
	for _, r := range rows {
		e := skillrouter.Event{Seq: r.Seq, Type: r.Type, Subject: r.Subject, Agent: r.AgentID, Project: r.Project, At: fromMillis(r.At)}
		if r.Data != nil {
			e.Data = json.RawMessage(*r.Data)
		}
		events = append(events, e)
	}
	return events, err
}

// EventBell rings after each commit that wrote an event.
func (s *Store) EventBell() *skillrouter.Bell { return &s.events }

// write applies a change in the transaction that waiting changes share. After
// the commit it runs after, if there is one, and rings the bell.
func (s *Store) write(ctx context.Context, apply func(tx *gorm.DB) error, after func()) error {
	return s.commit.Write(ctx, apply, func() {
		if after != nil {
			after()
		}
		s.events.Ring()
	})
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

// notFound gives gorm's "no such row" the code and words that the caller needs.
func notFound(err error, format string, args ...any) error {
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return skillrouter.Errorf(skillrouter.NotFound, format, args...)
	}
	return err
}
