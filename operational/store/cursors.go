package store

import (
	"context"

	"gorm.io/gorm"

	"skillrouter/operational"
)

// Cursor implements operational.EscalationStore.
func (s *Store) Cursor(ctx context.Context, name string) (seq int64, ok bool, err error) {
	var found []int64
	err = s.read.WithContext(ctx).Raw("SELECT seq FROM cursors WHERE name = ?", name).Scan(&found).Error
	if err != nil || len(found) == 0 {
		return 0, false, err
	}
	return found[0], true, nil
}

// SaveCursor implements operational.EscalationStore.
func (s *Store) SaveCursor(ctx context.Context, cursor operational.Cursor) error {
	return s.commit.Write(ctx, func(tx *gorm.DB) error { return saveCursor(tx, cursor) }, nil) // no event, and so no bell
}

// saveCursor moves a cursor forward; it never goes back.
func saveCursor(tx *gorm.DB, cursor operational.Cursor) error {
	return tx.Exec("INSERT INTO cursors (name, seq) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET seq = {greatest}(cursors.seq, excluded.seq)", cursor.Name, cursor.Seq).Error
}

// LastEvent returns the seq of the newest event, 0 if there is none.
func (s *Store) LastEvent(ctx context.Context) (int64, error) {
	var last int64
	err := s.read.WithContext(ctx).Raw("SELECT coalesce(max(seq), 0) FROM events").Scan(&last).Error
	return last, err
}
