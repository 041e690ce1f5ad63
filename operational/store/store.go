// Package store keeps the operational domain in operational.db.
// It owns the rows and the queries, translates the database's errors, and
// writes each change together with its event. It must not decide anything
// that a domain rule could decide.
package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"math"

	"gorm.io/gorm"

	"github.com/skillrouter/skillrouter/internal/committer"
	"github.com/skillrouter/skillrouter/internal/database/table"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/operational"
)

// MaxEvents bounds one answer of Events.
const MaxEvents = table.MaxEvents

// Store is operational.db: reading connections, and the one committer.
type Store struct {
	table.Log
	mailed committer.Bell
	swept  committer.Bell // rings after each commit that deleted messages
}

// New makes a Store on an open and migrated database.
func New(read *gorm.DB, commit *committer.Committer[*gorm.DB]) *Store {
	return &Store{Log: table.Log{Read: read, Commit: commit}}
}

// snapshot runs reads that must all see the same state of the database.
func (s *Store) snapshot(ctx context.Context, read func(tx *gorm.DB) error) error {
	return s.Read.WithContext(ctx).Transaction(read, &sql.TxOptions{ReadOnly: true})
}

// write applies a change in the transaction that waiting changes share. After
// the commit it runs after, if there is one, and rings the bell. What refuse
// returned leaves the transaction as it is, and after is not run.
func (s *Store) write(ctx context.Context, apply func(tx *gorm.DB) error, after func()) error {
	var refused refusal
	err := s.Commit.Write(ctx, func(tx *gorm.DB) error {
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
		s.EventBell().Ring()
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

// need reads the first row that a condition selects; without one it is the error that there is no such thing.
func need[T any](of *table.Table[T], db *gorm.DB, missing, where string, args ...any) (row T, err error) {
	row, found, err := of.One(db, where, args...)
	if err == nil && !found {
		err = errs.Errorf(errs.NotFound, "%s", missing)
	}
	return row, err
}

// changing is a change of one row.
type changing[T any] struct {
	of      *table.Table[T]
	where   string // which row it is, with args
	args    []any
	missing string      // what is said where there is none
	by      string      // the column that names the row
	only    []string    // the columns that are written; none: all
	after   func(row T) // runs after the commit; may be nil
}

// change finds a row, lets decide change it, and stores it with the event that decide returns. Without an event it stores nothing.
func (c changing[T]) change(ctx context.Context, s *Store, decide func(tx *gorm.DB, row *T) (*eventlog.Event, error)) (row T, err error) {
	err = s.write(ctx, func(tx *gorm.DB) (err error) {
		if row, err = need(c.of, tx, c.missing, c.where, c.args...); err != nil {
			return refuse(err)
		}
		event, err := decide(tx, &row)
		if err != nil || event == nil {
			return refuse(err)
		}
		if err := c.of.Update(tx, &row, c.by, c.only...); err != nil {
			return err
		}
		return table.AppendEvents(tx, *event)
	}, func() {
		if c.after != nil {
			c.after(row)
		}
	})
	if err != nil {
		return *new(T), err
	}
	return row, nil
}

// projectNames are the projects that tasks, agents and environments belong to.
const projectNames = "SELECT project FROM tasks WHERE project <> '' UNION SELECT project FROM agents WHERE project <> '' UNION SELECT project FROM environments WHERE project <> '' LIMIT ?"

// Projects returns up to limit of those projects.
func (s *Store) Projects(ctx context.Context, limit int) ([]string, error) {
	return table.List(s.Read.WithContext(ctx), table.Value[string], projectNames, limit)
}

// Names returns up to limit names of each kind: of tasks the open ones
// before the finished ones, of the rest the latest.
func (s *Store) Names(ctx context.Context, limit int) (operational.Names, error) {
	var n operational.Names
	var finished []operational.TaskName
	for _, q := range []struct {
		into any
		sql  string
	}{
		{&n.Agents, "SELECT id FROM agents ORDER BY last_seen DESC LIMIT ?"},
		{&n.Environments, "SELECT name FROM environments ORDER BY updated_at DESC LIMIT ?"},
		{&n.CVEs, "SELECT DISTINCT cve FROM findings WHERE cve <> '' LIMIT ?"},
		{&n.Findings, "SELECT title FROM findings ORDER BY last_seen DESC LIMIT ?"},
		{&n.Tasks, "SELECT number, title FROM tasks WHERE finished_at IS NULL ORDER BY priority DESC, number LIMIT ?"},
		{&finished, "SELECT number, title FROM tasks WHERE finished_at IS NOT NULL ORDER BY finished_at DESC, number DESC LIMIT ?"},
		{&n.Projects, projectNames},
	} {
		if err := s.Read.WithContext(ctx).Raw(q.sql, limit).Scan(q.into).Error; err != nil {
			return operational.Names{}, err
		}
	}
	n.Tasks = append(n.Tasks, finished[:min(len(finished), limit-len(n.Tasks))]...)
	return n, nil
}

// Cursor implements operational.EscalationStore.
func (s *Store) Cursor(ctx context.Context, name string) (seq int64, ok bool, err error) {
	ok, err = table.One(s.Read.WithContext(ctx), []any{&seq}, "SELECT seq FROM cursors WHERE name = ?", name)
	return seq, ok, err
}

// SaveCursor implements operational.EscalationStore.
func (s *Store) SaveCursor(ctx context.Context, cursor operational.Cursor) error {
	return s.Commit.Write(ctx, func(tx *gorm.DB) error { return saveCursor(tx, cursor) }, nil) // no event, and so no bell
}

// saveCursor moves a cursor forward; it never goes back.
func saveCursor(tx *gorm.DB, cursor operational.Cursor) error {
	return tx.Exec("INSERT INTO cursors (name, seq) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET seq = {greatest}(cursors.seq, excluded.seq)", cursor.Name, cursor.Seq).Error
}

// Followed returns the seq up to which all who follow a log have come, of those whose cursors have names that end with a suffix.
func (s *Store) Followed(ctx context.Context, suffix string) (seq int64, err error) {
	return table.Scalar[int64](s.Read.WithContext(ctx), "SELECT coalesce(min(seq), ?) FROM cursors WHERE name {like} ?", int64(math.MaxInt64), "%."+suffix)
}

// TakeBack takes the cursors whose names end with a suffix back to seq, where they are beyond it: the log that they follow has lost its end.
func (s *Store) TakeBack(ctx context.Context, suffix string, seq int64) error {
	return s.Commit.Write(ctx, func(tx *gorm.DB) error {
		return tx.Exec("UPDATE cursors SET seq = ? WHERE name {like} ? AND seq > ?", seq, "%."+suffix, seq).Error
	}, nil)
}
