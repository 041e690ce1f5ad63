package store

import (
	"context"
	"time"

	"gorm.io/gorm"

	"github.com/skillrouter/skillrouter/internal/database/table"
	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/operational"
)

var leases = table.Of[operational.Lease]("leases", "Glob", "ExpiresAt", "Redacted").Numbered("id")

// globMark stands before the patterns of a lease in which brackets are classes. No pattern begins so.
const globMark = "/glob/"

// HeldLeases implements lease.Store.
func (s *Store) HeldLeases(ctx context.Context, since time.Time) ([]operational.Lease, error) {
	held, err := leases.List(s.Read.WithContext(ctx), "WHERE ended_at IS NULL OR ended_at > ? ORDER BY ended_at IS NULL, ended_at, id", table.Millis(since))
	for i := range held {
		if l := &held[i]; len(l.Patterns) > 0 && l.Patterns[0] == globMark {
			l.Glob, l.Patterns = true, l.Patterns[1:]
		}
	}
	return held, err
}

// TakeLease implements lease.Store.
func (s *Store) TakeLease(ctx context.Context, lease operational.Lease, taken func(operational.Lease)) (operational.Lease, error) {
	again, kept := lease.ID != 0, lease
	if lease.Glob {
		kept.Patterns = append([]string{globMark}, lease.Patterns...)
	}
	err := s.write(ctx, func(tx *gorm.DB) (err error) {
		if again {
			err = leases.Update(tx, &kept, "id", "why", "ttl_seconds", "renewed_at")
		} else {
			err = leases.Insert(tx, &kept)
		}
		if err != nil {
			return err
		}
		lease.ID = kept.ID
		return table.AppendEvents(tx, lease.EventOf(lease.RenewedAt))
	}, func() { taken(lease) })
	return lease, err
}

// EndLeases implements lease.Store.
func (s *Store) EndLeases(ctx context.Context, ended []operational.Lease, after func()) error {
	return s.write(ctx, func(tx *gorm.DB) error {
		events := make([]eventlog.Event, 0, len(ended))
		for _, l := range ended {
			if err := tx.Exec("UPDATE leases SET ended_at = ?, ended = ?, ended_by = ?, told = ? WHERE id = ? AND ended_at IS NULL", table.Millis(*l.EndedAt), string(l.Ended), l.EndedBy, l.Told, l.ID).Error; err != nil {
				return err
			}
			events = append(events, l.EventOf(*l.EndedAt))
		}
		return table.AppendEvents(tx, events...)
	}, after)
}

// SweepLeases implements lease.Store.
func (s *Store) SweepLeases(ctx context.Context, before time.Time, limit int) (n int64, err error) {
	return s.DeleteRows(ctx, "DELETE FROM leases WHERE id IN (SELECT id FROM leases WHERE ended_at < ? AND told ORDER BY ended_at LIMIT ?)", table.Millis(before), limit)
}
