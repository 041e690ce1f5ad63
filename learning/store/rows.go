package store

import (
	"context"
	"database/sql"
	"errors"
	"math"

	"gorm.io/gorm"
)

// closing closes rows and returns the first error.
func closing(rows *sql.Rows, err error) error { return errors.Join(err, rows.Close()) }

// answered are the rows that a query answers, or why it answers none.
type answered struct {
	rows *sql.Rows
	err  error
}

// each is what a query answers, for visit.
func each(rows *sql.Rows, err error) answered { return answered{rows, err} }

// visit goes over the rows until visit has enough, and closes them.
func (a answered) visit(visit func(rows *sql.Rows) (more bool, err error)) error {
	if a.err != nil {
		return a.err
	}
	var err error
	for more := true; more && err == nil && a.rows.Next(); {
		more, err = visit(a.rows)
	}
	if err == nil {
		err = a.rows.Err()
	}
	return closing(a.rows, err)
}

// into reads each row into the columns that next gives. It stands in the program once, and not for each type of row.
//
//go:noinline
func (a answered) into(next func() []any) error {
	return a.visit(func(rows *sql.Rows) (bool, error) { return true, rows.Scan(next()...) })
}

// scanner reads one row and says how many bytes it counts for.
type scanner[T any] func(rows *sql.Rows) (row T, size int, err error)

// reading reads rows until they hold most bytes.
type reading[T any] struct {
	most int
	scan scanner[T]
}

func upTo[T any](most int, scan scanner[T]) reading[T] { return reading[T]{most, scan} }

// of reads what a query answers.
func (r reading[T]) of(rows *sql.Rows, err error) ([]T, error) {
	found, held := []T{}, 0
	err = each(rows, err).visit(func(rows *sql.Rows) (bool, error) {
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
	err := each(db.Rows()).visit(func(rows *sql.Rows) (bool, error) {
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

// deleteRows runs a statement that deletes, and counts what it deleted.
func (s *Store) deleteRows(ctx context.Context, statement string, args ...any) (gone int64, err error) {
	err = s.commit.Write(ctx, func(tx *gorm.DB) error {
		result, err := exec(tx, statement, args...)
		if err != nil {
			return err
		}
		gone, err = result.RowsAffected()
		return err
	}, nil)
	return gone, err
}
