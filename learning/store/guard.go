package store

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"gorm.io/gorm"

	"github.com/skillrouter/skillrouter/internal/committer"
	"github.com/skillrouter/skillrouter/internal/database/table"
	"github.com/skillrouter/skillrouter/learning/guard/rule"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

// checks are written by the thousand.
var checks = table.Listed("checks", []string{
	"num", "id", "agent_id", "project", "domain", "tool", "action", "context", "decision", "notes", "took_us", "at",
	"outcome", "result", "outcome_by", "outcome_notes", "outcome_at",
}, func(c *lesson.CheckRecord) []any {
	return []any{
		&c.Number, &c.ID, &c.Agent, &c.Project, &c.Domain, &c.Tool, &c.Action, &c.Context, &c.Decision, table.JSON(&c.Notes), &c.TookUS, table.At(&c.At),
		&c.Outcome, &c.Result, &c.OutcomeBy, &c.Remark, table.AtOrNil(&c.OutcomeAt),
	}
})

// shownMatch is a match of a check.
type shownMatch struct {
	check int64
	rule.Match
}

var matches = table.Listed("check_matches", []string{"check_num", "rule_id", "title", "severity", "lane", "reason", "confidence", "blocks"}, func(m *shownMatch) []any {
	return []any{&m.check, &m.RuleID, &m.Title, &m.Severity, &m.Lane, &m.Reason, &m.Confidence, &m.Blocks}
})

// AddChecks implements lesson.GuardTx.
func (tx *transaction) AddChecks(list ...lesson.CheckRecord) error {
	numbers := committer.NumbersOf(tx.db.Statement.Context)
	var shown []shownMatch
	for i := range list {
		c := &list[i]
		c.Number = numbers.Next("checks")
		for _, m := range slices.SortedFunc(slices.Values(c.Matches), func(a, b rule.Match) int { return strings.Compare(a.RuleID, b.RuleID) }) {
			if m.Lane == rule.LaneIncident {
				m.Lane = rule.LaneSimilarity // the table knows no more lanes; both only warn
			}
			shown = append(shown, shownMatch{c.Number, m})
		}
	}
	if _, err := checks.InsertAll(tx.db, list, ""); err != nil {
		return err
	}
	if _, err := matches.InsertAll(tx.db, shown, ""); err != nil {
		return err
	}
	for _, c := range list {
		for _, m := range c.Matches {
			_, err := table.Exec(tx.db, `INSERT INTO guard_rules (id, times_triggered, last_triggered) VALUES (?, 1, ?)
				ON CONFLICT (id) DO UPDATE SET times_triggered = guard_rules.times_triggered + 1,
				last_triggered = {greatest}(coalesce(guard_rules.last_triggered, 0), excluded.last_triggered)`, m.RuleID, table.Millis(c.At))
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// CheckOf implements lesson.GuardTx.
func (tx *transaction) CheckOf(id string) (lesson.CheckRecord, bool, error) {
	return table.First(selectChecks(tx.db, "WHERE id = ?", id))
}

// SettleCheck implements lesson.GuardTx.
func (tx *transaction) SettleCheck(c lesson.CheckRecord) error {
	return checks.Update(tx.db, &c, "num", "outcome", "result", "outcome_by", "outcome_notes", "outcome_at")
}

// RemoveChecks implements lesson.GuardTx. It removes from the beginning on: a check
// that has a later time than those after it keeps these until it is old itself.
func (tx *transaction) RemoveChecks(before time.Time, limit int) (int, error) {
	n, last, err := table.Oldest(tx.db, "SELECT num, at FROM checks ORDER BY num LIMIT ?", before, limit)
	if err != nil || n == 0 {
		return 0, err
	}
	if _, err := table.Exec(tx.db, "DELETE FROM check_matches WHERE check_num <= ?", last); err != nil {
		return 0, err
	}
	_, err = table.Exec(tx.db, "DELETE FROM checks WHERE num <= ?", last)
	return n, err
}

// ListChecks implements lesson.GuardStore.
func (s *Store) ListChecks(ctx context.Context, filter lesson.LedgerFilter, before int64) ([]lesson.CheckRecord, error) {
	var c table.Conditions
	c.Equal("agent_id", filter.Agent)
	c.Equal("project", filter.Project)
	c.Equal("decision", string(filter.Decision))
	c.Equal("outcome", string(filter.Outcome))
	c.Given("num IN (SELECT check_num FROM check_matches WHERE rule_id = ?)", filter.RuleID)
	c.Between("at", filter.Since, filter.Until)
	c.Below("num", before)
	return selectChecks(s.Read.WithContext(ctx), c.Text+" ORDER BY num DESC LIMIT ?", c.With(filter.Limit)...)
}

// OfflineChecks implements lesson.GuardStore.
func (s *Store) OfflineChecks(ctx context.Context, since time.Time) (times int, last time.Time, err error) {
	_, err = table.One(s.Read.WithContext(ctx), []any{&times, table.At(&last)}, "SELECT count(*), coalesce(max(at), 0) FROM checks WHERE at >= ? AND notes {like} ?",
		table.Millis(since), `["`+lesson.NoteOffline+`"%`)
	return times, last, err
}

// AskedGuard implements lesson.GuardStore.
func (s *Store) AskedGuard(ctx context.Context, since time.Time) (map[string]time.Time, error) {
	type asked struct {
		agent string
		at    time.Time
	}
	rows, err := table.List(s.Read.WithContext(ctx), func(a *asked) []any { return []any{&a.agent, table.At(&a.at)} },
		"SELECT agent_id, max(at) FROM checks WHERE at >= ? AND agent_id <> '' GROUP BY agent_id", table.Millis(since))
	last := make(map[string]time.Time, len(rows))
	for _, r := range rows {
		last[r.agent] = r.at
	}
	return last, err
}

// selectChecks reads checks with what they showed.
func selectChecks(db *gorm.DB, where string, args ...any) ([]lesson.CheckRecord, error) {
	found, err := checks.List(db, where, args...)
	if err != nil || len(found) == 0 {
		return found, err
	}
	numbers, place := make([]any, len(found)), make(map[int64]int, len(found))
	for i, c := range found {
		numbers[i], place[c.Number], found[i].Matches = c.Number, i, []rule.Match{}
	}
	shown, err := matches.List(db, "WHERE check_num IN ("+table.Marks(len(numbers))+") ORDER BY check_num, blocks DESC, rule_id", numbers...)
	for _, m := range shown {
		m.Alternatives = []string{}
		of := &found[place[m.check]]
		of.Matches = append(of.Matches, m.Match)
	}
	return found, err
}

// standingRow is a rule's standing, with what is believed of the rule if anything is.
type standingRow struct {
	lesson.GuardStanding
	InitialConfidence, DecayConstant *float64
	ConfidenceAt                     *time.Time
}

var (
	standings = table.Of[standingRow]("guard_rules", "RuleID id", "Belief")
	// judgedStandings are standings without what the checks themselves count.
	judgedStandings = table.Of[standingRow]("guard_rules", "RuleID id", "Belief", "TimesTriggered", "LastTriggered")
	packs           = table.Of[lesson.PackState]("guard_packs", "Project", "By changed_by", "At changed_at")
	projectPacks    = table.Of[lesson.PackState]("guard_project_packs", "By changed_by", "At changed_at")
)

// GuardStandings implements lesson.GuardStore.
func (s *Store) GuardStandings(ctx context.Context, ids []string) ([]lesson.GuardStanding, error) {
	if ids == nil {
		return selectStandings(s.Read.WithContext(ctx), "")
	}
	if len(ids) == 0 {
		return nil, nil
	}
	var c table.Conditions
	table.Among(&c, "id", ids)
	return selectStandings(s.Read.WithContext(ctx), c.Text, c.Args...)
}

// GuardStanding implements lesson.GuardTx.
func (tx *transaction) GuardStanding(ruleID string) (lesson.GuardStanding, error) {
	found, err := selectStandings(tx.db, "WHERE id = ?", ruleID)
	if err != nil || len(found) == 0 {
		return lesson.GuardStanding{RuleID: ruleID, Overriders: []string{}}, err
	}
	return found[0], nil
}

func selectStandings(db *gorm.DB, where string, args ...any) ([]lesson.GuardStanding, error) {
	rows, err := standings.List(db, where, args...)
	list := make([]lesson.GuardStanding, len(rows))
	for i, g := range rows {
		if list[i] = g.GuardStanding; g.InitialConfidence != nil && g.DecayConstant != nil && g.ConfidenceAt != nil {
			list[i].Belief = &lesson.Belief{InitialConfidence: *g.InitialConfidence, DecayConstant: *g.DecayConstant, ConfidenceAt: *g.ConfidenceAt}
		}
	}
	return list, err
}

// PutGuardStanding implements lesson.GuardTx.
func (tx *transaction) PutGuardStanding(g lesson.GuardStanding) error {
	row := standingRow{GuardStanding: g}
	if b := g.Belief; b != nil {
		row.InitialConfidence, row.DecayConstant, row.ConfidenceAt = &b.InitialConfidence, &b.DecayConstant, &b.ConfidenceAt
	}
	return judgedStandings.Put(tx.db, &row, "id")
}

// MoveLesson implements lesson.GuardTx.
func (tx *transaction) MoveLesson(lessonID string, b lesson.Belief, at time.Time) error {
	_, err := table.Exec(tx.db, "UPDATE lessons SET initial_confidence = ?, decay_constant = ?, confidence_at = ?, updated_at = {greatest}(updated_at + 1, ?) WHERE id = ?",
		b.InitialConfidence, b.DecayConstant, table.Millis(b.ConfidenceAt), table.Millis(at), lessonID)
	return err
}

// PackStates implements lesson.GuardStore.
func (s *Store) PackStates(ctx context.Context) ([]lesson.PackState, error) {
	return packStates(s.Read.WithContext(ctx))
}

// PackStates implements lesson.GuardTx.
func (tx *transaction) PackStates() ([]lesson.PackState, error) { return packStates(tx.db) }

func packStates(db *gorm.DB) ([]lesson.PackState, error) {
	all, err := packs.List(db, "")
	if err != nil {
		return nil, err
	}
	more, err := projectPacks.List(db, "")
	all = append(all, more...)
	slices.SortFunc(all, func(a, b lesson.PackState) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Project, b.Project))
	})
	return all, err
}

// PutPackState implements lesson.GuardTx.
func (tx *transaction) PutPackState(p lesson.PackState) error {
	if p.Project != "" {
		return projectPacks.Put(tx.db, &p, "name", "project")
	}
	return packs.Put(tx.db, &p, "name")
}

// RemovePackState implements lesson.GuardTx.
func (tx *transaction) RemovePackState(name, project string) error {
	if project != "" {
		_, err := table.Exec(tx.db, "DELETE FROM guard_project_packs WHERE name = ? AND project = ?", name, project)
		return err
	}
	_, err := table.Exec(tx.db, "DELETE FROM guard_packs WHERE name = ?", name)
	return err
}

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
