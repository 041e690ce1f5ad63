package store

import (
	"context"
	"slices"
	"strings"
	"time"

	"gorm.io/gorm"

	"skillrouter/internal/committer"
	"skillrouter/learning/guard/rule"
	"skillrouter/learning/lesson"
)

var (
	checkColumns = []string{"num", "id", "agent_id", "project", "domain", "tool", "action", "context", "decision", "notes", "took_us", "at"}
	matchColumns = []string{"check_num", "rule_id", "title", "severity", "lane", "reason", "confidence", "blocks"}
)

const selectCheck = `SELECT num, id, agent_id, project, domain, tool, action, context, decision, notes, took_us, at,
	outcome, result, outcome_by, outcome_notes, outcome_at FROM checks `

// AddChecks implements lesson.GuardTx.
func (tx *transaction) AddChecks(checks ...lesson.CheckRecord) error {
	numbers := committer.NumbersOf(tx.db.Statement.Context)
	var matches [][]any
	err := insert(tx.db, "checks", checkColumns, len(checks), func(i int, row []any) []any {
		c := checks[i]
		number := numbers.Next("checks")
		for _, m := range slices.SortedFunc(slices.Values(c.Matches), func(a, b rule.Match) int { return strings.Compare(a.RuleID, b.RuleID) }) {
			lane := m.Lane
			if lane == rule.LaneIncident {
				lane = rule.LaneSimilarity // the table knows no more lanes; both only warn
			}
			matches = append(matches, []any{number, m.RuleID, m.Title, string(m.Severity), string(lane), m.Reason, m.Confidence, m.Blocks})
		}
		return append(row, number, c.ID, c.Agent, c.Project, c.Domain, c.Tool, c.Action, c.Context, string(c.Decision), listText(c.Notes), c.TookUS, millis(c.At))
	})
	if err != nil {
		return err
	}
	if err := insert(tx.db, "check_matches", matchColumns, len(matches), func(i int, row []any) []any { return append(row, matches[i]...) }); err != nil {
		return err
	}
	for _, c := range checks {
		for _, m := range c.Matches {
			_, err := exec(tx.db, `INSERT INTO guard_rules (id, times_triggered, last_triggered) VALUES (?, 1, ?)
				ON CONFLICT (id) DO UPDATE SET times_triggered = guard_rules.times_triggered + 1,
				last_triggered = {greatest}(coalesce(guard_rules.last_triggered, 0), excluded.last_triggered)`, m.RuleID, millis(c.At))
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// CheckOf implements lesson.GuardTx.
func (tx *transaction) CheckOf(id string) (lesson.CheckRecord, bool, error) {
	return first(selectChecks(tx.db, "WHERE id = ?", id))
}

// SettleCheck implements lesson.GuardTx.
func (tx *transaction) SettleCheck(c lesson.CheckRecord) error {
	_, err := exec(tx.db, "UPDATE checks SET outcome = ?, result = ?, outcome_by = ?, outcome_notes = ?, outcome_at = ? WHERE num = ?",
		string(c.Outcome), string(c.Result), c.OutcomeBy, c.Remark, millisPtr(c.OutcomeAt), c.Number)
	return err
}

// RemoveChecks implements lesson.GuardTx. It removes from the beginning on: a check
// that has a later time than those after it keeps these until it is old itself.
func (tx *transaction) RemoveChecks(before time.Time, limit int) (int, error) {
	n, last, err := oldest(tx.db, "SELECT num, at FROM checks ORDER BY num LIMIT ?", before, limit)
	if err != nil || n == 0 {
		return 0, err
	}
	if _, err := exec(tx.db, "DELETE FROM check_matches WHERE check_num <= ?", last); err != nil {
		return 0, err
	}
	_, err = exec(tx.db, "DELETE FROM checks WHERE num <= ?", last)
	return n, err
}

// oldest counts the rows at the beginning of those that a query chooses, with their numbers and times, which are from before a time, and returns the
// last number of them.
func oldest(tx *gorm.DB, choose string, before time.Time, args ...any) (n int, last int64, err error) {
	type row struct {
		num int64
		at  time.Time
	}
	rows, err := list(tx, func(r *row) []any { return []any{&r.num, at(&r.at)} }, choose, args...)
	for n < len(rows) && rows[n].at.Before(before) {
		last = rows[n].num
		n++
	}
	return n, last, err
}

// ListChecks implements lesson.GuardStore.
func (s *Store) ListChecks(ctx context.Context, filter lesson.LedgerFilter, before int64) ([]lesson.CheckRecord, error) {
	var c conditions
	c.equal("agent_id", filter.Agent)
	c.equal("project", filter.Project)
	c.equal("decision", string(filter.Decision))
	c.equal("outcome", string(filter.Outcome))
	if filter.RuleID != "" {
		c.add("num IN (SELECT check_num FROM check_matches WHERE rule_id = ?)", filter.RuleID)
	}
	if !filter.Since.IsZero() {
		c.add("at >= ?", millis(filter.Since))
	}
	if !filter.Until.IsZero() {
		c.add("at < ?", millis(filter.Until))
	}
	if before > 0 {
		c.add("num < ?", before)
	}
	return selectChecks(s.read.WithContext(ctx), c.text+" ORDER BY num DESC LIMIT ?", append(c.args, filter.Limit)...)
}

// OfflineChecks implements lesson.GuardStore.
func (s *Store) OfflineChecks(ctx context.Context, since time.Time) (times int, last time.Time, err error) {
	_, err = one(s.read.WithContext(ctx), []any{&times, at(&last)}, "SELECT count(*), coalesce(max(at), 0) FROM checks WHERE at >= ? AND notes {like} ?",
		millis(since), `["`+lesson.NoteOffline+`"%`)
	return times, last, err
}

// AskedGuard implements lesson.GuardStore.
func (s *Store) AskedGuard(ctx context.Context, since time.Time) (map[string]time.Time, error) {
	type asked struct {
		agent string
		at    time.Time
	}
	rows, err := list(s.read.WithContext(ctx), func(a *asked) []any { return []any{&a.agent, at(&a.at)} },
		"SELECT agent_id, max(at) FROM checks WHERE at >= ? AND agent_id <> '' GROUP BY agent_id", millis(since))
	last := make(map[string]time.Time, len(rows))
	for _, r := range rows {
		last[r.agent] = r.at
	}
	return last, err
}

// selectChecks reads checks with what they showed.
func selectChecks(db *gorm.DB, where string, args ...any) ([]lesson.CheckRecord, error) {
	checks, err := list(db, func(c *lesson.CheckRecord) []any {
		c.Matches = []rule.Match{}
		return []any{
			&c.Number, &c.ID, &c.Agent, &c.Project, &c.Domain, &c.Tool, &c.Action, &c.Context, &c.Decision, fromJSON(&c.Notes), &c.TookUS, at(&c.At),
			&c.Outcome, &c.Result, &c.OutcomeBy, &c.Remark, atOrNil(&c.OutcomeAt),
		}
	}, selectCheck+where, args...)
	if err != nil || len(checks) == 0 {
		return checks, err
	}
	numbers, place := make([]any, len(checks)), make(map[int64]int, len(checks))
	for i, c := range checks {
		numbers[i], place[c.Number] = c.Number, i
	}
	type shown struct {
		check int64
		rule.Match
	}
	matches, err := list(db, func(m *shown) []any {
		m.Alternatives = []string{}
		return []any{&m.check, &m.RuleID, &m.Title, &m.Severity, &m.Lane, &m.Reason, &m.Confidence, &m.Blocks}
	}, "SELECT check_num, rule_id, title, severity, lane, reason, confidence, blocks FROM check_matches WHERE check_num IN ("+
		marks(len(numbers))+") ORDER BY check_num, blocks DESC, rule_id", numbers...)
	for _, m := range matches {
		of := &checks[place[m.check]]
		of.Matches = append(of.Matches, m.Match)
	}
	return checks, err
}

const selectStanding = `SELECT id, forced, times_triggered, last_triggered, heeded, overridden, overridden_success, overridden_failure,
	overridden_partial, recent_success, overriders, initial_confidence, decay_constant, confidence_at, demoted_at, demoted_reason FROM guard_rules `

// GuardStandings implements lesson.GuardStore.
func (s *Store) GuardStandings(ctx context.Context, ids []string) ([]lesson.GuardStanding, error) {
	if ids == nil {
		return selectStandings(s.read.WithContext(ctx), "")
	}
	if len(ids) == 0 {
		return nil, nil
	}
	var c conditions
	among(&c, "id", ids)
	return selectStandings(s.read.WithContext(ctx), c.text, c.args...)
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
	type standing struct {
		lesson.GuardStanding
		confidence, decay *float64
		believed          *time.Time
	}
	rows, err := list(db, func(g *standing) []any {
		return []any{
			&g.RuleID, &g.Forced, &g.TimesTriggered, atOrNil(&g.LastTriggered), &g.Heeded, &g.Overridden, &g.OverriddenSuccess, &g.OverriddenFailure,
			&g.OverriddenPartial, &g.RecentSuccess, fromJSON(&g.Overriders), &g.confidence, &g.decay, atOrNil(&g.believed), atOrNil(&g.DemotedAt), &g.DemotedReason,
		}
	}, selectStanding+where, args...)
	standings := make([]lesson.GuardStanding, len(rows))
	for i, g := range rows {
		if standings[i] = g.GuardStanding; g.confidence != nil && g.decay != nil && g.believed != nil {
			standings[i].Belief = &lesson.Belief{InitialConfidence: *g.confidence, DecayConstant: *g.decay, ConfidenceAt: *g.believed}
		}
	}
	return standings, err
}

// PutGuardStanding implements lesson.GuardTx.
func (tx *transaction) PutGuardStanding(g lesson.GuardStanding) error {
	var confidence, decay, believed any
	if g.Belief != nil {
		confidence, decay, believed = g.Belief.InitialConfidence, g.Belief.DecayConstant, millis(g.Belief.ConfidenceAt)
	}
	_, err := exec(tx.db, `INSERT INTO guard_rules (id, forced, heeded, overridden, overridden_success, overridden_failure, overridden_partial,
		recent_success, overriders, initial_confidence, decay_constant, confidence_at, demoted_at, demoted_reason)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET forced = excluded.forced, heeded = excluded.heeded, overridden = excluded.overridden,
		overridden_success = excluded.overridden_success, overridden_failure = excluded.overridden_failure,
		overridden_partial = excluded.overridden_partial, recent_success = excluded.recent_success, overriders = excluded.overriders,
		initial_confidence = excluded.initial_confidence, decay_constant = excluded.decay_constant, confidence_at = excluded.confidence_at,
		demoted_at = excluded.demoted_at, demoted_reason = excluded.demoted_reason`,
		g.RuleID, g.Forced, g.Heeded, g.Overridden, g.OverriddenSuccess, g.OverriddenFailure, g.OverriddenPartial,
		g.RecentSuccess, listText(g.Overriders), confidence, decay, believed, millisPtr(g.DemotedAt), g.DemotedReason)
	return err
}

// MoveLesson implements lesson.GuardTx.
func (tx *transaction) MoveLesson(lessonID string, b lesson.Belief, at time.Time) error {
	_, err := exec(tx.db, "UPDATE lessons SET initial_confidence = ?, decay_constant = ?, confidence_at = ?, updated_at = {greatest}(updated_at + 1, ?) WHERE id = ?",
		b.InitialConfidence, b.DecayConstant, millis(b.ConfidenceAt), millis(at), lessonID)
	return err
}

const (
	selectPacks = `SELECT name, '' AS project, mode, changed_by, changed_at FROM guard_packs
		UNION ALL SELECT name, project, mode, changed_by, changed_at FROM guard_project_packs ORDER BY 1, 2`
	selectTeamPacks = "SELECT name, version, text, added_by, added_at FROM guard_team_packs ORDER BY name"
)

// PackStates implements lesson.GuardStore.
func (s *Store) PackStates(ctx context.Context) ([]lesson.PackState, error) {
	return packStates(s.read.WithContext(ctx))
}

// PackStates implements lesson.GuardTx.
func (tx *transaction) PackStates() ([]lesson.PackState, error) { return packStates(tx.db) }

func packStates(db *gorm.DB) ([]lesson.PackState, error) {
	return list(db, func(p *lesson.PackState) []any { return []any{&p.Name, &p.Project, &p.Mode, &p.By, at(&p.At)} }, selectPacks)
}

// PutPackState implements lesson.GuardTx.
func (tx *transaction) PutPackState(p lesson.PackState) error {
	if p.Project != "" {
		_, err := exec(tx.db, `INSERT INTO guard_project_packs (name, project, mode, changed_by, changed_at) VALUES (?, ?, ?, ?, ?)
			ON CONFLICT (name, project) DO UPDATE SET mode = excluded.mode, changed_by = excluded.changed_by, changed_at = excluded.changed_at`,
			p.Name, p.Project, string(p.Mode), p.By, millis(p.At))
		return err
	}
	_, err := exec(tx.db, `INSERT INTO guard_packs (name, mode, changed_by, changed_at) VALUES (?, ?, ?, ?)
		ON CONFLICT (name) DO UPDATE SET mode = excluded.mode, changed_by = excluded.changed_by, changed_at = excluded.changed_at`, p.Name, string(p.Mode), p.By, millis(p.At))
	return err
}

// RemovePackState implements lesson.GuardTx.
func (tx *transaction) RemovePackState(name, project string) error {
	if project != "" {
		_, err := exec(tx.db, "DELETE FROM guard_project_packs WHERE name = ? AND project = ?", name, project)
		return err
	}
	_, err := exec(tx.db, "DELETE FROM guard_packs WHERE name = ?", name)
	return err
}

// TeamPacks implements lesson.GuardStore.
func (s *Store) TeamPacks(ctx context.Context) ([]lesson.TeamPack, error) {
	return teamPacks(s.read.WithContext(ctx))
}

// TeamPacks implements lesson.GuardTx.
func (tx *transaction) TeamPacks() ([]lesson.TeamPack, error) { return teamPacks(tx.db) }

func teamPacks(db *gorm.DB) ([]lesson.TeamPack, error) {
	return list(db, func(p *lesson.TeamPack) []any { return []any{&p.Name, &p.Version, &p.Text, &p.By, at(&p.At)} }, selectTeamPacks)
}

// PutTeamPack implements lesson.GuardTx.
func (tx *transaction) PutTeamPack(p lesson.TeamPack) error {
	_, err := exec(tx.db, `INSERT INTO guard_team_packs (name, version, text, added_by, added_at) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (name) DO UPDATE SET version = excluded.version, text = excluded.text, added_by = excluded.added_by, added_at = excluded.added_at`,
		p.Name, p.Version, p.Text, p.By, millis(p.At))
	return err
}

// RemoveTeamPack implements lesson.GuardTx.
func (tx *transaction) RemoveTeamPack(name string) error {
	for _, statement := range []string{"DELETE FROM guard_team_packs WHERE name = ?", "DELETE FROM guard_packs WHERE name = ?", "DELETE FROM guard_project_packs WHERE name = ?"} {
		if _, err := exec(tx.db, statement, name); err != nil {
			return err
		}
	}
	return nil
}
