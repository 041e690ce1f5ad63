package store

import (
	"context"
	"slices"
	"time"

	"github.com/skillrouter/skillrouter/internal/database/table"
	"github.com/skillrouter/skillrouter/operational"
)

// valuesOfQuery bounds the values of one query: databases bound its variables.
const valuesOfQuery = 500

// RemindersAfter returns reminders of a project (of all, if it is empty) whose number is greater than after, in order.
func (s *Store) RemindersAfter(ctx context.Context, project string, after int64, limit int) ([]operational.Reminder, error) {
	q := s.Read.WithContext(ctx).Where("number > ?", after)
	q = given(q, "project = ?", project)
	return reminders.Find(q.Order("number").Limit(limit))
}

// RemindersMade implements operational.ReminderStore. It passes over the whole
// table once for every valuesOfQuery, which an import asks for together.
func (s *Store) RemindersMade(ctx context.Context, times []time.Time) (all []operational.Reminder, err error) {
	for some := range slices.Chunk(times, valuesOfQuery) {
		made := make([]int64, len(some))
		for i, t := range some {
			made[i] = table.Millis(t)
		}
		part, err := reminders.Find(s.Read.WithContext(ctx).Where("created_at IN ?", made))
		if err != nil {
			return nil, err
		}
		all = append(all, part...)
	}
	return all, nil
}

// ReminderKeyed implements operational.ReminderStore.
func (s *Store) ReminderKeyed(ctx context.Context, maker, key string) (bool, error) {
	return table.Scalar[bool](s.Read.WithContext(ctx), "SELECT EXISTS (SELECT 1 FROM reminders WHERE created_by = ? AND idempotency_key = ?)", maker, key)
}
