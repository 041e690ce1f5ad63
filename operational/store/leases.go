package store

import (
	"context"
	"database/sql/driver"
	"encoding/json"
	"time"

	"gorm.io/gorm"

	"github.com/skillrouter/skillrouter/internal/database/table"
	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/operational"
)

var leases = table.Of[operational.Lease]("leases", "Patterns", "Glob", "ExpiresAt", "Redacted").Numbered("id").
	Field("patterns", func(l *operational.Lease) any { return patternsColumn{l} })

// globMark stands before the patterns of a lease in which brackets are classes. No pattern begins so.
const globMark = "/glob/"

// patternsColumn is the column of a lease's patterns.
type patternsColumn struct{ of *operational.Lease }

// Value implements driver.Valuer.
func (c patternsColumn) Value() (driver.Value, error) {
	kept := c.of.Patterns
	if c.of.Glob {
		kept = append([]string{globMark}, kept...)
	}
	text, err := json.Marshal(kept)
	return string(text), err
}

// Scan implements sql.Scanner.
func (c patternsColumn) Scan(value any) error {
	text, _ := value.(string)
	if err := json.Unmarshal([]byte(text), &c.of.Patterns); err != nil {
		return err
	}
	if c.of.Glob = len(c.of.Patterns) > 0 && c.of.Patterns[0] == globMark; c.of.Glob {
		c.of.Patterns = c.of.Patterns[1:]
	}
	return nil
}

// HeldLeases implements lease.Store.
func (s *Store) HeldLeases(ctx context.Context, since time.Time) ([]operational.Lease, error) {
	return leases.List(s.Read.WithContext(ctx), "WHERE ended_at IS NULL OR ended_at > ? ORDER BY ended_at IS NULL, ended_at, id", table.Millis(since))
}

// TakeLease implements lease.Store.
func (s *Store) TakeLease(ctx context.Context, lease operational.Lease, taken func(operational.Lease)) (operational.Lease, error) {
	again := lease.ID != 0
	err := s.write(ctx, func(tx *gorm.DB) (err error) {
		if again {
			err = leases.Update(tx, &lease, "id", "why", "ttl_seconds", "renewed_at")
		} else {
			err = leases.Insert(tx, &lease)
		}
		if err != nil {
			return err
		}
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
