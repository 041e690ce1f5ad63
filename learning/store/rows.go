package store

import (
	"database/sql"
	"math"

	"gorm.io/gorm"

	"github.com/skillrouter/skillrouter/internal/database/table"
)

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
