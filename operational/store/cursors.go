package store

import (
	"context"
	"math"

	"gorm.io/gorm"

	"github.com/skillrouter/skillrouter/internal/database/table"
	"github.com/skillrouter/skillrouter/operational"
)

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
