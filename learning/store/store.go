// Package store keeps the learning domain in learning.db.
// It owns the rows and the queries, translates the database's errors, and
// writes each change together with its event. It must not decide anything
// that a domain rule could decide.
package store

import (
	"context"
	"math"
	"strconv"

	"gorm.io/gorm"

	"github.com/skillrouter/skillrouter/internal/committer"
	"github.com/skillrouter/skillrouter/internal/database/table"
	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/learning/experience"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

// MaxEvents bounds one answer of Events.
const MaxEvents = table.MaxEvents

// Store is learning.db: reading connections, and the one committer.
type Store struct{ table.Log }

// New makes a Store on an open and migrated database.
func New(read *gorm.DB, commit *committer.Committer[*gorm.DB]) *Store {
	return &Store{table.Log{Read: read, Commit: commit}}
}

// transaction is one that changes share, for all that the domain decides in one.
type transaction struct{ db *gorm.DB }

// AddEvents writes the events of what the transaction changes.
func (tx *transaction) AddEvents(events ...eventlog.Event) error {
	return table.AppendEvents(tx.db, events...)
}

// queue puts a change in the line of those that wait for a transaction.
// After the commit it runs after, if there is one, and rings the bell.
func (s *Store) queue(ctx context.Context, apply func(tx *gorm.DB) error, after func()) (wait func() error) {
	return s.Commit.Queue(ctx, noted(ctx, apply), func() {
		if after != nil {
			after()
		}
		s.EventBell().Ring()
	})
}

var _ lesson.PipelineStore = (*Store)(nil)

// Change implements lesson.PipelineStore.
func (s *Store) Change(ctx context.Context, decide func(tx lesson.PipelineTx) error, after func()) (wait func() error) {
	return s.queue(ctx, func(tx *gorm.DB) error { return decide(&transaction{tx}) }, after)
}

// ChangeExperiences implements experience.Store.
func (s *Store) ChangeExperiences(ctx context.Context, decide func(tx experience.Tx) error, after func()) (wait func() error) {
	return s.queue(ctx, func(tx *gorm.DB) error { return decide(&transaction{tx}) }, after)
}

// byRef is the condition that finds a row by its id or its number in decimal.
// No id is a number.
func byRef(ref string) (where string, arg any) {
	if number, err := strconv.ParseUint(ref, 10, 63); err == nil {
		return "WHERE num = ?", number
	}
	return "WHERE id = ?", ref
}

// unbounded is a size that no answer reaches.
const unbounded = math.MaxInt
