package store

import (
	"context"
	"math"
	"time"

	"gorm.io/gorm"

	"skillrouter/internal/committer"
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

// Followed returns the seq up to which all who follow a log have come, of those whose cursors have names that end with a suffix.
func (s *Store) Followed(ctx context.Context, suffix string) (seq int64, err error) {
	err = s.read.WithContext(ctx).Raw("SELECT coalesce(min(seq), ?) FROM cursors WHERE name {like} ?", int64(math.MaxInt64), "%."+suffix).Scan(&seq).Error
	return seq, err
}

// FirstEvent returns the seq of the oldest event, 0 if there is none.
func (s *Store) FirstEvent(ctx context.Context) (seq int64, err error) {
	err = s.read.WithContext(ctx).Raw("SELECT coalesce(min(seq), 0) FROM events").Scan(&seq).Error
	return seq, err
}

// SweepEvents removes up to limit of the oldest events, which are from before a time and not behind a seq. The newest stays: the next is numbered by it.
func (s *Store) SweepEvents(ctx context.Context, through int64, before time.Time, limit int) (removed int, err error) {
	err = s.commit.Write(committer.Essential(ctx), func(tx *gorm.DB) error {
		var oldest []struct{ Seq, At int64 }
		if err := tx.Raw("SELECT seq, at FROM events WHERE seq <= ? AND seq < (SELECT max(seq) FROM events) ORDER BY seq LIMIT ?", through, limit).Scan(&oldest).Error; err != nil {
			return err
		}
		for removed = 0; removed < len(oldest) && oldest[removed].At < millis(before); removed++ {
		}
		if removed == 0 {
			return nil
		}
		return tx.Exec("DELETE FROM events WHERE seq <= ?", oldest[removed-1].Seq).Error
	}, nil)
	return removed, err
}

// LastEvent returns the seq of the newest event, 0 if there is none.
func (s *Store) LastEvent(ctx context.Context) (int64, error) {
	var last int64
	err := s.read.WithContext(ctx).Raw("SELECT coalesce(max(seq), 0) FROM events").Scan(&last).Error
	return last, err
}

// TakeBack takes the cursors whose names end with a suffix back to seq, where they are beyond it: the log that they follow has lost its end.
func (s *Store) TakeBack(ctx context.Context, suffix string, seq int64) error {
	return s.commit.Write(ctx, func(tx *gorm.DB) error {
		return tx.Exec("UPDATE cursors SET seq = ? WHERE name {like} ? AND seq > ?", seq, "%."+suffix, seq).Error
	}, nil)
}
