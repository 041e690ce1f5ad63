package store

import (
	"context"
	"database/sql"
	"errors"

	"gorm.io/gorm"
)

// closing closes rows and returns the first error.
func closing(rows *sql.Rows, err error) error { return errors.Join(err, rows.Close()) }

// eachID visits the ids that a query answers.
func eachID(db *gorm.DB, query string, visit func(id string), args ...any) error {
	rows, err := db.Raw(query, args...).Rows()
	if err != nil {
		return err
	}
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return closing(rows, err)
		}
		visit(id)
	}
	return closing(rows, rows.Err())
}

// Bounds of a chunk of a scan: enough to occupy every core, and not much of the memory.
const (
	scanRows  = 4096
	scanBytes = 8 << 20
)

// eachChunk scans what a query answers and visits it in chunks, in order. scan
// reads one row and says how many bytes it counts for.
func eachChunk[T any](db *gorm.DB, scan func(rows *sql.Rows) (row T, size int, err error), visit func(chunk []T) error) error {
	rows, err := db.Rows()
	if err != nil {
		return err
	}
	var chunk []T
	held := 0
	for rows.Next() {
		row, size, err := scan(rows)
		if err != nil {
			return closing(rows, err)
		}
		chunk = append(chunk, row)
		if held += size; len(chunk) == scanRows || held >= scanBytes {
			if err := visit(chunk); err != nil {
				return closing(rows, err)
			}
			chunk, held = nil, 0
		}
	}
	if err := closing(rows, rows.Err()); err != nil || len(chunk) == 0 {
		return err
	}
	return visit(chunk)
}

// deleteRows runs a statement that deletes what and key tell of as one change, and counts what it deleted.
func (s *Store) deleteRows(ctx context.Context, what, key, statement string, args ...any) (gone int64, err error) {
	err = s.commit.Write(ctx, func(tx *gorm.DB) error {
		result, err := exec(tx, statement, args...)
		if err != nil {
			return err
		}
		if gone, err = result.RowsAffected(); err == nil && gone > 0 {
			_, err = changed(tx, what, key, 1)
		}
		return err
	}, nil)
	return gone, err
}
