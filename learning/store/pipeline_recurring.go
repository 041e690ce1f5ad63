package store

import (
	"context"
	"database/sql"
	"slices"
	"time"

	"gorm.io/gorm"

	"github.com/skillrouter/skillrouter/internal/database/table"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

// CommandPattern implements lesson.PatternTx.
func (tx *transaction) CommandPattern(command string) (lesson.Pattern, bool, error) {
	return onePattern(tx.db, "WHERE command = ? AND command <> '' ORDER BY num LIMIT 1", command)
}

// patternAgent is an agent of whom a pattern has a lesson.
type patternAgent struct{ PatternID, AgentID string }

var patternAgents = table.Of[patternAgent]("pattern_agents")

// AddPatternAgents implements lesson.PatternTx.
func (tx *transaction) AddPatternAgents(patternID string, agents ...string) (int, error) {
	rows := make([]patternAgent, len(agents))
	for i, agent := range agents {
		rows[i] = patternAgent{patternID, agent}
	}
	added, err := patternAgents.InsertAll(tx.db, rows, table.OrKeep)
	return int(added), err
}

// PatternAgents implements lesson.PatternTx.
func (tx *transaction) PatternAgents(patternID string, limit int) ([]string, error) {
	return table.List(tx.db, table.Value[string], "SELECT agent_id FROM pattern_agents WHERE pattern_id = ? ORDER BY agent_id LIMIT ?", patternID, limit)
}

// LessonEvidence implements lesson.PatternTx.
func (tx *transaction) LessonEvidence(patternID string, limit int) ([]string, error) {
	return table.List(tx.db, table.Value[string], "SELECT ref FROM pattern_evidence WHERE pattern_id = ? AND kind = 'lesson' ORDER BY num DESC LIMIT ?", patternID, limit)
}

// activeEvidence is true of a row of patterns that gathers a lesson in use.
const activeEvidence = `EXISTS (SELECT 1 FROM pattern_evidence e JOIN lessons l ON l.id = e.ref
	WHERE e.pattern_id = patterns.id AND e.kind = 'lesson' AND l.status <> 'retired')`

// ActiveEvidence implements lesson.PatternTx.
func (tx *transaction) ActiveEvidence(patternID string) (bool, error) {
	return table.One(tx.db, []any{new(string)}, "SELECT id FROM patterns WHERE id = ? AND "+activeEvidence, patternID)
}

// View implements lesson.PatternStore.
func (s *Store) View(ctx context.Context, read func(tx lesson.PipelineTx) error) error {
	return s.Read.WithContext(ctx).Transaction(func(tx *gorm.DB) error { return read(&transaction{tx}) }, &sql.TxOptions{ReadOnly: true})
}

// ScanPatterns implements lesson.PatternStore. It reads one state of the database from end to end.
func (s *Store) ScanPatterns(ctx context.Context, visit func(chunk []lesson.Pattern) error) error {
	db := s.Read.WithContext(ctx).Raw(selectPattern() + "WHERE representative <> '' ORDER BY num")
	return eachChunk(db, scanPattern, visit)
}

// FadedPatterns implements lesson.PatternStore.
func (s *Store) FadedPatterns(ctx context.Context, least float64, at, lapsed time.Time, limit int) ([]string, error) {
	return table.List(s.Read.WithContext(ctx), table.Value[string], `SELECT id FROM patterns WHERE status IN ('emerging', 'confirmed')
		AND (representative <> '' AND (`+sureness+` < ? OR NOT `+activeEvidence+`) OR operation_type <> '' AND last_seen < ?) ORDER BY num LIMIT ?`,
		table.Millis(at), msPerDay, least, table.Millis(lapsed), limit)
}

// StaleLessons implements lesson.PatternStore.
func (s *Store) StaleLessons(ctx context.Context, domain string, before time.Time, limit int) ([]lesson.Lesson, error) {
	var c table.Conditions
	c.Add("coalesce(last_validated_at, created_at) < ?", table.Millis(before))
	c.Add(inUse)
	if domain != "" {
		c.Add("{unindexed}domain = ?", domain)
	}
	return lessons(s.Read.WithContext(ctx), unbounded, c.Text+" ORDER BY coalesce(last_validated_at, created_at), num LIMIT ?", c.With(limit)...)
}

// PromotableLessons implements lesson.PatternStore.
func (s *Store) PromotableLessons(ctx context.Context, domain string, cases, applications, limit int) ([]lesson.Lesson, error) {
	db := s.Read.WithContext(ctx)
	var found []lesson.Lesson
	for _, source := range []struct {
		where string
		args  []any
	}{
		{"WHERE id IN (SELECT representative FROM patterns WHERE status IN ('emerging', 'confirmed') AND lessons >= ? ORDER BY lessons DESC, num LIMIT ?) AND level = 'case'", []any{cases, limit}},
		{"WHERE level = 'case' AND source_case_ids <> '[]'", nil},
		{ofLevels + " AND level = 'pattern' AND times_succeeded >= ?", []any{applications}},
	} {
		where, args := source.where+" AND "+inUse, source.args
		if domain != "" {
			where, args = where+" AND {unindexed}domain = ?", append(args, domain)
		}
		some, err := lessons(db, unbounded, where+" ORDER BY num DESC LIMIT ?", append(args, limit)...)
		if err != nil {
			return nil, err
		}
		for _, l := range some {
			if !slices.ContainsFunc(found, func(f lesson.Lesson) bool { return f.ID == l.ID }) {
				found = append(found, l)
			}
		}
	}
	return found, nil
}
