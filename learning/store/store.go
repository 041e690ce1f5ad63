// Package store keeps the learning domain in learning.db through gorm.
// It owns the rows and the queries, translates the database's errors, and
// writes each change together with its event. It must not decide anything
// that a domain rule could decide.
package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"runtime"
	"slices"
	"strings"
	"time"

	"gorm.io/gorm"

	"skillrouter"
)

// Store is learning.db: reading connections, and the one committer.
type Store struct {
	read   *gorm.DB
	commit *skillrouter.Committer[*gorm.DB]
	events skillrouter.Bell
}

// New makes a Store on an open and migrated database.
func New(read *gorm.DB, commit *skillrouter.Committer[*gorm.DB]) *Store {
	return &Store{read: read, commit: commit}
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

var eventColumns = []string{"type", "subject", "agent_id", "project", "at", "data"}

// appendEvents writes events into the transaction of the change that they tell of.
func appendEvents(tx *gorm.DB, events []skillrouter.Event) error {
	return insert(tx, "events", eventColumns, len(events), func(i int, row []any) []any {
		e := events[i]
		var data any
		if len(e.Data) > 0 {
			data = string(e.Data)
		}
		return append(row, e.Type, e.Subject, e.Agent, e.Project, millis(e.At), data)
	})
}

// insertRows is how many rows one INSERT holds. Binding is quadratic in the
// number of parameters, and parsing the statement has its price: from 50 to
// 100 rows is the best of both.
const insertRows = 50

// insert writes n rows, whose values row appends. It goes past gorm's
// reflection, which costs more than SQLite does.
func insert(tx *gorm.DB, table string, columns []string, n int, row func(i int, values []any) []any) error {
	return insertOr(tx, "", table, columns, n, row)
}

// orKeep ends an INSERT that leaves rows which are there already as they are.
const orKeep = " ON CONFLICT DO NOTHING"

// orReplace ends an INSERT of the columns that overwrites a row with the same keys.
func orReplace(columns []string, keys ...string) string {
	var set []string
	for _, column := range columns {
		if !slices.Contains(keys, column) {
			set = append(set, column+" = excluded."+column)
		}
	}
	return " ON CONFLICT (" + strings.Join(keys, ", ") + ") DO UPDATE SET " + strings.Join(set, ", ")
}

// insertOr is insert with what becomes of a row that is there already: orKeep, orReplace, or empty for a failure.
func insertOr(tx *gorm.DB, conflict, table string, columns []string, n int, row func(i int, values []any) []any) error {
	if n == 0 {
		return nil
	}
	conn, ctx := tx.Statement.ConnPool, tx.Statement.Context
	head := "INSERT INTO " + table + " (" + strings.Join(columns, ", ") + ") VALUES "
	one := "(" + marks(len(columns)) + ")"
	values := make([]any, 0, min(n, insertRows)*len(columns))
	var full *sql.Stmt
	for from := 0; from < n; from += insertRows {
		runtime.Gosched() // each of these takes a millisecond or two: a search that waits for a core goes first
		rows := min(insertRows, n-from)
		values = values[:0]
		for i := range rows {
			values = row(from+i, values)
		}
		query := head + one + strings.Repeat(", "+one, rows-1) + conflict
		if rows < insertRows || n < 2*insertRows {
			if _, err := conn.ExecContext(ctx, query, values...); err != nil {
				return err
			}
			continue
		}
		if full == nil {
			var err error
			if full, err = conn.PrepareContext(ctx, query); err != nil {
				return err
			}
			defer full.Close()
		}
		if _, err := full.ExecContext(ctx, values...); err != nil {
			return err
		}
	}
	return nil
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
