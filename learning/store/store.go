// Package store keeps the learning domain in learning.db.
// It owns the rows and the queries, translates the database's errors, and
// writes each change together with its event. It must not decide anything
// that a domain rule could decide.
package store

import (
	"context"
	"database/sql"
	"math"
	"strconv"

	"gorm.io/gorm"

	"github.com/skillrouter/skillrouter/internal/committer"
	"github.com/skillrouter/skillrouter/internal/database/table"
	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/learning/experience"
	"github.com/skillrouter/skillrouter/learning/fact"
	"github.com/skillrouter/skillrouter/learning/lesson"
	"github.com/skillrouter/skillrouter/learning/procedure"
	"github.com/skillrouter/skillrouter/learning/shelf"
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

var _ shelf.IndexStore = (*Store)(nil)

// indexed says where the rows of a kind lie, how they are numbered and named, and which can be found.
type indexed struct{ table, number, id, where string }

// indexedOf is where the rows of a kind lie: in the table of its name, numbered num and named id, if it says nothing else.
func indexedOf(kind shelf.IndexKind) indexed {
	switch kind {
	case lesson.IndexKind:
		return indexed{"lessons", "num", "id", " WHERE status <> 'retired'"}
	case procedure.IndexKind:
		return indexed{"procedures", "num", "persona || '/' || name", " WHERE deleted_at IS NULL"}
	case fact.IndexKind:
		return indexed{"facts", "version", "persona || '/' || key", ""}
	}
	return indexed{string(kind), "num", "id", ""}
}

// Span implements shelf.IndexStore. It reads two ends of an index, however many rows there are.
func (s *Store) Span(ctx context.Context, kind shelf.IndexKind) (int, error) {
	of := indexedOf(kind)
	db := s.Read.WithContext(ctx)
	var first, last int64
	if found, err := table.One(db, []any{&first}, "SELECT "+of.number+" FROM "+of.table+" ORDER BY "+of.number+" LIMIT 1"); err != nil || !found {
		return 0, err
	}
	_, err := table.One(db, []any{&last}, "SELECT "+of.number+" FROM "+of.table+" ORDER BY "+of.number+" DESC LIMIT 1")
	return int(last - first + 1), err
}

// IDs implements shelf.IndexStore.
func (s *Store) IDs(ctx context.Context, kind shelf.IndexKind, visit func(id string)) error {
	of := indexedOf(kind)
	return table.Each(table.Query(s.Read.WithContext(ctx), "SELECT "+of.id+" FROM "+of.table+of.where)).Visit(func(rows *sql.Rows) (bool, error) {
		var id string
		err := rows.Scan(&id)
		if err == nil {
			visit(id)
		}
		return true, err
	})
}

// scanner reads one row and says how many bytes it counts for.
type scanner[T any] func(rows *sql.Rows) (row T, size int, err error)

// sized reads rows of a table, each of which counts for so many bytes.
func sized[T any](of *table.Table[T], size func(row *T) int) scanner[T] {
	return func(rows *sql.Rows) (row T, bytes int, err error) {
		err = rows.Scan(of.Fields(&row)...)
		return row, size(&row), err
	}
}

// reading reads rows until they hold most bytes.
type reading[T any] struct {
	most int
	scan scanner[T]
}

func upTo[T any](most int, scan scanner[T]) reading[T] { return reading[T]{most, scan} }

// of reads what a query answers.
func (r reading[T]) of(rows *sql.Rows, err error) ([]T, error) {
	found, held := []T{}, 0
	err = table.Each(rows, err).Visit(func(rows *sql.Rows) (bool, error) {
		row, size, err := r.scan(rows)
		if err == nil {
			found = append(found, row)
		}
		held += size
		return held < r.most, err
	})
	return found, err
}

// oneMore has upTo read one row more, so that the domain sees whether there are more: each counts when the next is read.
func oneMore[T any](scan scanner[T]) scanner[T] {
	last := 0
	return func(rows *sql.Rows) (T, int, error) {
		row, size, err := scan(rows)
		size, last = last, size
		return row, size, err
	}
}

const (
	// Bounds of a chunk of a scan: enough to occupy every core, and not much of the memory.
	scanRows  = 4096
	scanBytes = 8 << 20
	// scanPage is how many rows one statement of a scan reads. Whoever visits a million may take minutes, and a server ends a statement
	// that does.
	scanPage = 4 * scanRows
)

// eachChunk scans what a query answers and visits it in chunks, in order.
func eachChunk[T any](db *gorm.DB, scan scanner[T], visit func(chunk []T) error) error {
	var chunk []T
	held := 0
	err := table.Each(db.Rows()).Visit(func(rows *sql.Rows) (bool, error) {
		row, size, err := scan(rows)
		if err != nil {
			return false, err
		}
		chunk = append(chunk, row)
		if held += size; len(chunk) == scanRows || held >= scanBytes {
			err = visit(chunk)
			chunk, held = nil, 0
		}
		return true, err
	})
	if err != nil || len(chunk) == 0 {
		return err
	}
	return visit(chunk)
}

// eachPage scans all rows that a query without conditions chooses, in the order of by, a number of each, and visits them in chunks. Each page is as
// the database is by then: what is written meanwhile is seen, or not, as if it were written before or after.
func eachPage[T any](db *gorm.DB, choose, by string, number func(row T) int64, scan scanner[T], visit func(chunk []T) error) error {
	after := int64(math.MinInt64)
	for page := scanPage; page == scanPage; {
		page = 0
		if err := eachChunk(db.Raw(choose+" WHERE "+by+" > ? ORDER BY "+by+" LIMIT ?", after, scanPage), func(rows *sql.Rows) (T, int, error) {
			row, size, err := scan(rows)
			page, after = page+1, number(row)
			return row, size, err
		}, visit); err != nil {
			return err
		}
	}
	return nil
}
