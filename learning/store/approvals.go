package store

import (
	"context"
	"time"

	"github.com/skillrouter/skillrouter/internal/database/table"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

var approvals = table.Of[lesson.Approval]("approvals", "Number num", "Agent agent_id", "Withheld", "Holder").Numbered("num")

// ListApprovals implements lesson.GuardStore.
func (s *Store) ListApprovals(ctx context.Context, agent string, state lesson.ApprovalState, at time.Time, before int64, limit int) ([]lesson.Approval, error) {
	var c table.Conditions
	c.Equal("agent_id", agent)
	switch state {
	case lesson.ApprovalExpired:
		c.Add("state IN ('pending', 'approved') AND ends_at <= ?", table.Millis(at))
	case lesson.ApprovalPending, lesson.ApprovalApproved:
		c.Add("ends_at > ?", table.Millis(at))
		fallthrough
	default:
		c.Equal("state", string(state))
	}
	c.Below("num", before)
	return approvals.List(s.Read.WithContext(ctx), c.Text+" ORDER BY num DESC LIMIT ?", c.With(limit)...)
}

// Approval implements lesson.GuardStore.
func (s *Store) Approval(ctx context.Context, id string) (lesson.Approval, bool, error) {
	return approvals.One(s.Read.WithContext(ctx), "WHERE id = ?", id)
}

// ApprovalOf implements lesson.GuardTx.
func (tx *transaction) ApprovalOf(id string) (lesson.Approval, bool, error) {
	return approvals.One(tx.db, "WHERE id = ?", id)
}

// PutApproval implements lesson.GuardTx.
func (tx *transaction) PutApproval(a *lesson.Approval) error {
	if a.Number != 0 {
		return approvals.Update(tx.db, a, "num", "matches", "state", "check_id", "asked", "ends_at", "decided_by", "decided_at", "notes", "used_at", "used_check")
	}
	if _, err := table.Exec(tx.db, "DELETE FROM approvals WHERE id = ?", a.ID); err != nil {
		return err
	}
	return approvals.Insert(tx.db, a)
}

// BoundApprovals implements lesson.GuardTx.
func (tx *transaction) BoundApprovals(holder string, keep int) error {
	var c table.Conditions
	c.Equal("state", string(lesson.ApprovalPending))
	if holder != "" {
		c.Add("(agent_id = ? OR agent_id >= ? AND agent_id < ?)", holder, holder+":", holder+";") // ; comes after :
	}
	var waiting int
	if _, err := table.One(tx.db, []any{&waiting}, "SELECT count(*) FROM approvals "+c.Text, c.Args...); err != nil || waiting <= keep {
		return err
	}
	asks, err := table.List(tx.db, func(a *lesson.Approval) []any { return []any{&a.Number, &a.Agent} }, "SELECT num, agent_id FROM approvals "+c.Text+" ORDER BY num", c.Args...)
	if err != nil {
		return err
	}
	gone := lesson.GiveWay(asks, keep, holder)
	_, err = table.Exec(tx.db, "DELETE FROM approvals WHERE num IN ("+table.Marks(len(gone))+")", table.Anys(gone)...)
	return err
}

// RemoveApprovals implements lesson.GuardTx.
func (tx *transaction) RemoveApprovals(before time.Time) error {
	if _, err := table.Exec(tx.db, "DELETE FROM approvals WHERE asked_at < ? AND ends_at < ?", table.Millis(before), table.Millis(before)); err != nil {
		return err
	}
	_, err := table.Exec(tx.db, "DELETE FROM permissions WHERE ends_at < ?", table.Millis(before))
	return err
}

var permissions = table.Of[lesson.Permission]("permissions", "Number num", "RuleIDs rules", "Withheld").Numbered("num")

// ListPermissions implements lesson.GuardStore.
func (s *Store) ListPermissions(ctx context.Context, at time.Time, limit int) ([]lesson.Permission, error) {
	var c table.Conditions
	if !at.IsZero() {
		c.Add("revoked_at IS NULL AND ends_at > ?", table.Millis(at))
	}
	return permissions.List(s.Read.WithContext(ctx), c.Text+" ORDER BY num DESC LIMIT ?", c.With(limit)...)
}

// PermissionOf implements lesson.GuardTx.
func (tx *transaction) PermissionOf(id string) (lesson.Permission, bool, error) {
	return permissions.One(tx.db, "WHERE id = ?", id)
}

// CountPermissions implements lesson.GuardTx.
func (tx *transaction) CountPermissions(at time.Time) (n int, err error) {
	_, err = table.One(tx.db, []any{&n}, "SELECT count(*) FROM permissions WHERE revoked_at IS NULL AND ends_at > ?", table.Millis(at))
	return n, err
}

// AddPermission implements lesson.GuardTx.
func (tx *transaction) AddPermission(p *lesson.Permission) error { return permissions.Insert(tx.db, p) }

// RevokePermission implements lesson.GuardTx.
func (tx *transaction) RevokePermission(p lesson.Permission) error {
	return permissions.Update(tx.db, &p, "num", "revoked_at", "revoked_by")
}
