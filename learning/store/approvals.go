package store

import (
	"context"
	"strings"
	"time"

	"gorm.io/gorm"

	"skillrouter/learning/lesson"
)

var approvalColumns = []string{
	"id", "exact", "agent_id", "folder", "project", "tool", "action", "matches", "state", "check_id", "asked", "asked_at", "ends_at",
	"decided_by", "decided_at", "notes", "used_at", "used_check",
}

var (
	selectApproval = "SELECT num, " + strings.Join(approvalColumns, ", ") + " FROM approvals "
	insertApproval = "INSERT INTO approvals (" + strings.Join(approvalColumns, ", ") + ") VALUES (" + marks(len(approvalColumns)) + ") RETURNING num"
)

func selectApprovals(db *gorm.DB, where string, args ...any) ([]lesson.Approval, error) {
	return list(db, func(a *lesson.Approval) []any {
		return []any{
			&a.Number, &a.ID, &a.Exact, &a.Agent, &a.Folder, &a.Project, &a.Tool, &a.Action, fromJSON(&a.Matches), &a.State, &a.CheckID, &a.Asked,
			at(&a.AskedAt), at(&a.EndsAt), &a.DecidedBy, atOrNil(&a.DecidedAt), &a.Notes, atOrNil(&a.UsedAt), &a.UsedCheck,
		}
	}, selectApproval+where, args...)
}

// ListApprovals implements lesson.GuardStore.
func (s *Store) ListApprovals(ctx context.Context, agent string, state lesson.ApprovalState, before int64, limit int) ([]lesson.Approval, error) {
	var c conditions
	c.equal("agent_id", agent)
	c.equal("state", string(state))
	if before > 0 {
		c.add("num < ?", before)
	}
	return selectApprovals(s.read.WithContext(ctx), c.text+" ORDER BY num DESC LIMIT ?", append(c.args, limit)...)
}

// ApprovalOf implements lesson.GuardTx.
func (tx *transaction) ApprovalOf(id string) (lesson.Approval, bool, error) {
	return first(selectApprovals(tx.db, "WHERE id = ?", id))
}

// PutApproval implements lesson.GuardTx.
func (tx *transaction) PutApproval(a *lesson.Approval) error {
	if a.Number != 0 {
		_, err := exec(tx.db, `UPDATE approvals SET matches = ?, state = ?, check_id = ?, asked = ?, ends_at = ?, decided_by = ?, decided_at = ?, notes = ?,
			used_at = ?, used_check = ? WHERE num = ?`,
			toJSON(a.Matches), string(a.State), a.CheckID, a.Asked, millis(a.EndsAt), a.DecidedBy, millisPtr(a.DecidedAt), a.Notes, millisPtr(a.UsedAt), a.UsedCheck, a.Number)
		return err
	}
	if _, err := exec(tx.db, "DELETE FROM approvals WHERE id = ?", a.ID); err != nil {
		return err
	}
	number, err := insertOne(tx.db, insertApproval, a.ID, a.Exact, a.Agent, a.Folder, a.Project, a.Tool, a.Action, toJSON(a.Matches), string(a.State), a.CheckID,
		a.Asked, millis(a.AskedAt), millis(a.EndsAt), a.DecidedBy, millisPtr(a.DecidedAt), a.Notes, millisPtr(a.UsedAt), a.UsedCheck)
	a.Number = number
	return err
}

// BoundApprovals implements lesson.GuardTx.
func (tx *transaction) BoundApprovals(holder string, keep int) error {
	var c conditions
	c.equal("state", string(lesson.ApprovalPending))
	if holder != "" {
		c.add("(agent_id = ? OR agent_id >= ? AND agent_id < ?)", holder, holder+":", holder+";") // ; comes after :
	}
	var waiting int
	if _, err := one(tx.db, []any{&waiting}, "SELECT count(*) FROM approvals "+c.text, c.args...); err != nil || waiting <= keep {
		return err
	}
	asks, err := list(tx.db, func(a *lesson.Approval) []any { return []any{&a.Number, &a.Agent} }, "SELECT num, agent_id FROM approvals "+c.text+" ORDER BY num", c.args...)
	if err != nil {
		return err
	}
	gone := lesson.GiveWay(asks, keep, holder)
	_, err = exec(tx.db, "DELETE FROM approvals WHERE num IN ("+marks(len(gone))+")", anys(gone)...)
	return err
}

// RemoveApprovals implements lesson.GuardTx.
func (tx *transaction) RemoveApprovals(before time.Time) error {
	if _, err := exec(tx.db, "DELETE FROM approvals WHERE asked_at < ? AND ends_at < ?", millis(before), millis(before)); err != nil {
		return err
	}
	_, err := exec(tx.db, "DELETE FROM permissions WHERE ends_at < ?", millis(before))
	return err
}

var permissionColumns = []string{
	"id", "exact", "pattern", "action", "tool", "agent_kind", "project", "folder", "rules", "owner", "notes", "created_at", "ends_at", "revoked_at", "revoked_by",
}

var (
	selectPermission = "SELECT num, " + strings.Join(permissionColumns, ", ") + " FROM permissions "
	insertPermission = "INSERT INTO permissions (" + strings.Join(permissionColumns, ", ") + ") VALUES (" + marks(len(permissionColumns)) + ") RETURNING num"
)

func selectPermissions(db *gorm.DB, where string, args ...any) ([]lesson.Permission, error) {
	return list(db, func(p *lesson.Permission) []any {
		return []any{
			&p.Number, &p.ID, &p.Exact, &p.Pattern, &p.Action, &p.Tool, &p.AgentKind, &p.Project, &p.Folder, fromJSON(&p.RuleIDs), &p.Owner, &p.Notes,
			at(&p.CreatedAt), at(&p.EndsAt), atOrNil(&p.RevokedAt), &p.RevokedBy,
		}
	}, selectPermission+where, args...)
}

// ListPermissions implements lesson.GuardStore.
func (s *Store) ListPermissions(ctx context.Context, limit int) ([]lesson.Permission, error) {
	return selectPermissions(s.read.WithContext(ctx), "ORDER BY num DESC LIMIT ?", limit)
}

// PermissionOf implements lesson.GuardTx.
func (tx *transaction) PermissionOf(id string) (lesson.Permission, bool, error) {
	return first(selectPermissions(tx.db, "WHERE id = ?", id))
}

// CountPermissions implements lesson.GuardTx.
func (tx *transaction) CountPermissions(at time.Time) (n int, err error) {
	_, err = one(tx.db, []any{&n}, "SELECT count(*) FROM permissions WHERE revoked_at IS NULL AND ends_at > ?", millis(at))
	return n, err
}

// AddPermission implements lesson.GuardTx.
func (tx *transaction) AddPermission(p *lesson.Permission) (err error) {
	p.Number, err = insertOne(tx.db, insertPermission, p.ID, p.Exact, p.Pattern, p.Action, p.Tool, p.AgentKind, p.Project, p.Folder, listText(p.RuleIDs), p.Owner,
		p.Notes, millis(p.CreatedAt), millis(p.EndsAt), millisPtr(p.RevokedAt), p.RevokedBy)
	return err
}

// RevokePermission implements lesson.GuardTx.
func (tx *transaction) RevokePermission(p lesson.Permission) error {
	_, err := exec(tx.db, "UPDATE permissions SET revoked_at = ?, revoked_by = ? WHERE num = ?", millisPtr(p.RevokedAt), p.RevokedBy, p.Number)
	return err
}
