package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"gorm.io/gorm"

	"skillrouter/internal/eventlog"
	"skillrouter/operational"
)

type leaseRow struct {
	ID         int64 `gorm:"primaryKey;autoIncrement"`
	AgentID    string
	Project    string
	Patterns   string
	Shared     bool
	Why        string
	Folder     string
	TTLSeconds int64
	TakenAt    int64
	RenewedAt  int64
	EndedAt    *int64
	Ended      string
	EndedBy    string
	Told       bool
}

func (leaseRow) TableName() string { return "leases" }

// globMark stands before the patterns of a lease in which brackets are classes. No pattern begins so.
const globMark = "/glob/"

func rowOfLease(l operational.Lease) (leaseRow, error) {
	kept := l.Patterns
	if l.Glob {
		kept = append([]string{globMark}, kept...)
	}
	patterns, err := json.Marshal(kept)
	return leaseRow{
		ID: l.ID, AgentID: l.AgentID, Project: l.Project, Patterns: string(patterns), Shared: l.Shared, Why: l.Why, Folder: l.Folder, TTLSeconds: l.TTLSeconds,
		TakenAt: millis(l.TakenAt), RenewedAt: millis(l.RenewedAt), EndedAt: millisPtr(l.EndedAt), Ended: string(l.Ended), EndedBy: l.EndedBy, Told: l.Told,
	}, err
}

func (r leaseRow) lease() (operational.Lease, error) {
	l := operational.Lease{
		ID: r.ID, AgentID: r.AgentID, Project: r.Project, Shared: r.Shared, Why: r.Why, Folder: r.Folder, TTLSeconds: r.TTLSeconds,
		TakenAt: fromMillis(r.TakenAt), RenewedAt: fromMillis(r.RenewedAt), EndedAt: fromMillisPtr(r.EndedAt), Ended: operational.LeaseEnd(r.Ended), EndedBy: r.EndedBy, Told: r.Told,
	}
	if err := json.Unmarshal([]byte(r.Patterns), &l.Patterns); err != nil {
		return l, fmt.Errorf("patterns of lease %d: %w", r.ID, err)
	}
	if l.Glob = len(l.Patterns) > 0 && l.Patterns[0] == globMark; l.Glob {
		l.Patterns = l.Patterns[1:]
	}
	return l, nil
}

// HeldLeases implements lease.Store.
func (s *Store) HeldLeases(ctx context.Context, since time.Time) (leases []operational.Lease, err error) {
	err = s.snapshot(ctx, func(tx *gorm.DB) error { // one that ends meanwhile is returned once
		var past, held []leaseRow
		if err := tx.Where("ended_at > ? OR NOT told AND ended_at IS NOT NULL", millis(since)).Order("{unindexed}ended_at, id").Find(&past).Error; err != nil {
			return err
		}
		if err := tx.Where("ended_at IS NULL").Order("id").Find(&held).Error; err != nil {
			return err
		}
		for _, r := range append(past, held...) {
			l, err := r.lease()
			if err != nil {
				return err
			}
			leases = append(leases, l)
		}
		return nil
	})
	return leases, err
}

// TakeLease implements lease.Store.
func (s *Store) TakeLease(ctx context.Context, lease operational.Lease, taken func(operational.Lease)) (operational.Lease, error) {
	again := lease.ID != 0
	row, err := rowOfLease(lease)
	if err != nil {
		return lease, err
	}
	err = s.write(ctx, func(tx *gorm.DB) (err error) {
		if !again {
			row.ID = 0
			err = tx.Create(&row).Error
			lease.ID = row.ID
		} else {
			err = tx.Exec("UPDATE leases SET why = ?, ttl_seconds = ?, renewed_at = ? WHERE id = ?", row.Why, row.TTLSeconds, row.RenewedAt, row.ID).Error
		}
		if err != nil {
			return err
		}
		return appendEvent(tx, lease.EventOf(lease.RenewedAt))
	}, func() { taken(lease) })
	return lease, err
}

// EndLeases implements lease.Store.
func (s *Store) EndLeases(ctx context.Context, ended []operational.Lease, after func()) error {
	return s.write(ctx, func(tx *gorm.DB) error {
		events := make([]eventlog.Event, 0, len(ended))
		for _, l := range ended {
			if err := tx.Exec("UPDATE leases SET ended_at = ?, ended = ?, ended_by = ?, told = ? WHERE id = ? AND ended_at IS NULL", millis(*l.EndedAt), string(l.Ended), l.EndedBy, l.Told, l.ID).Error; err != nil {
				return err
			}
			events = append(events, l.EventOf(*l.EndedAt))
		}
		return appendEvents(tx, events)
	}, after)
}

// LeasesTold implements lease.Store.
func (s *Store) LeasesTold(ctx context.Context, ids []int64) error {
	return s.commit.Write(ctx, func(tx *gorm.DB) error { // no event, and so no bell
		return tx.Exec("UPDATE leases SET told = true WHERE id IN ?", ids).Error
	}, nil)
}

// SweepLeases implements lease.Store.
func (s *Store) SweepLeases(ctx context.Context, before time.Time, limit int) (n int64, err error) {
	err = s.commit.Write(ctx, func(tx *gorm.DB) error {
		done := tx.Exec("DELETE FROM leases WHERE id IN (SELECT id FROM leases WHERE ended_at < ? AND told ORDER BY ended_at LIMIT ?)", millis(before), limit)
		n = done.RowsAffected
		return done.Error
	}, nil)
	return n, err
}
