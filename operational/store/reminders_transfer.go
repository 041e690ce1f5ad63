package store

import (
	"context"
	"slices"
	"time"

	"skillrouter/operational"
)

// timesOfQuery bounds the times of one query: databases bound its variables.
const timesOfQuery = 500

var _ operational.ReminderTransfer = (*Store)(nil)

// RemindersAfter implements operational.ReminderTransfer.
func (s *Store) RemindersAfter(ctx context.Context, project string, after int64, limit int) ([]operational.Reminder, error) {
	q := s.read.WithContext(ctx).Where("number > ?", after)
	q = given(q, "project = ?", project)
	return listOf(q.Order("number").Limit(limit), reminderRow.reminder)
}

// RemindersMade implements operational.ReminderStore. It passes over the whole
// table once for every timesOfQuery, which an import asks for together.
func (s *Store) RemindersMade(ctx context.Context, times []time.Time) (all []operational.Reminder, err error) {
	for some := range slices.Chunk(times, timesOfQuery) {
		made := make([]int64, len(some))
		for i, t := range some {
			made[i] = millis(t)
		}
		part, err := listOf(s.read.WithContext(ctx).Where("created_at IN ?", made), reminderRow.reminder)
		if err != nil {
			return nil, err
		}
		all = append(all, part...)
	}
	return all, nil
}

// ReminderKeyed implements operational.ReminderStore.
func (s *Store) ReminderKeyed(ctx context.Context, maker, key string) (bool, error) {
	var n int64
	err := s.read.WithContext(ctx).Model(&reminderRow{}).Where("created_by = ? AND idempotency_key = ?", maker, key).Count(&n).Error
	return n > 0, err
}
