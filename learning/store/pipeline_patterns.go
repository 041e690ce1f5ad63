package store

import (
	"context"
	"database/sql"
	"slices"
	"sync"
	"time"

	"gorm.io/gorm"

	"github.com/skillrouter/skillrouter/internal/database/table"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

// patternRow is a pattern, and what was made of it first.
type patternRow struct {
	lesson.Pattern
	made lesson.PatternAsMade
}

// patternRows are written for many reports.
var patternRows = table.Listed("patterns", []string{
	"num", "id", "pattern_name", "pattern_type", "description", "domain", "categories", "operation_type", "frequency",
	"first_seen", "last_seen", "status", "confirmed_by", "confirmed_at", "recommended_action", "prevention_steps",
	"weight", "initial_confidence", "decay_constant", "confidence_at", "times_applied", "times_succeeded",
	"last_validated", "created_at", "updated_at", "why", "lessons", "agents", "representative", "command", "action_confidence",
	"made_type", "made_text", "made_confidence", "made_frequency", "made_episodes",
}, func(p *patternRow) []any {
	return []any{
		&p.Number, &p.ID, &p.Name, &p.Type, &p.Description, &p.Domain, table.JSON(&p.Categories), &p.OperationType, &p.Frequency,
		table.At(&p.FirstSeen), table.At(&p.LastSeen), &p.Status, &p.ConfirmedBy, table.AtOrNil(&p.ConfirmedAt), &p.Action, table.JSON(&p.Prevention),
		&p.Weight, &p.InitialConfidence, &p.DecayConstant, table.At(&p.ConfidenceAt), &p.TimesApplied, &p.TimesSucceeded,
		table.AtOrNil(&p.LastValidated), table.At(&p.CreatedAt), table.At(&p.UpdatedAt), table.JSON(&p.Why), &p.Lessons, &p.Agents, &p.Representative, &p.Command, &p.ActionConfidence,
		&p.made.Type, &p.made.Description, &p.made.InitialConfidence, &p.made.Frequency, table.JSON(&p.made.EpisodeIDs),
	}
}).Numbered("num")

var (
	// ownPatterns are those that the database does not number.
	ownPatterns   = patternRows.Numbered("")
	selectPattern = sync.OnceValue(patternRows.Select)
)

func rowOfPattern(p *lesson.Pattern) *patternRow {
	row := &patternRow{Pattern: *p}
	if p.Made != nil {
		row.made = *p.Made
	}
	return row
}

func patterns(db *gorm.DB, where string, args ...any) ([]lesson.Pattern, error) {
	return upTo(unbounded, scanPattern).of(table.Query(db, selectPattern()+where, args...))
}

func scanPattern(rows *sql.Rows) (lesson.Pattern, int, error) {
	var row patternRow
	err := rows.Scan(patternRows.Fields(&row)...)
	p := row.Pattern
	p.LessonIDs, p.EpisodeIDs = []string{}, []int64{}
	if row.made.Type != "" {
		p.Made = &row.made
	}
	return p, patternSize(&p), err
}

func onePattern(db *gorm.DB, where string, args ...any) (lesson.Pattern, bool, error) {
	return table.First(patterns(db, where, args...))
}

// PatternOf implements lesson.PipelineTx.
func (tx *transaction) PatternOf(ref string) (lesson.Pattern, bool, error) {
	where, arg := byRef(ref)
	return onePattern(tx.db, where, arg)
}

// PatternsOf implements lesson.PipelineTx.
func (tx *transaction) PatternsOf(evidence lesson.Evidence) ([]lesson.Pattern, error) {
	return patterns(tx.db, "WHERE id IN (SELECT pattern_id FROM pattern_evidence WHERE kind = ? AND ref = ?) ORDER BY num", evidence.Kind, evidence.Ref)
}

// FailingOperation implements lesson.PipelineTx.
func (tx *transaction) FailingOperation(operationType string) (lesson.Pattern, bool, error) {
	return onePattern(tx.db, "WHERE operation_type = ? AND operation_type <> '' AND num < 0", operationType)
}

// OperationPattern implements lesson.PipelineTx.
func (tx *transaction) OperationPattern(operationType string) (lesson.Pattern, bool, error) {
	return onePattern(tx.db, "WHERE operation_type = ? AND operation_type <> '' AND made_type <> ''", operationType)
}

// PatternByText implements lesson.PipelineTx.
func (tx *transaction) PatternByText(text string) (lesson.Pattern, bool, error) {
	return onePattern(tx.db, "WHERE made_type <> '' AND {position}(lower(made_text), lower(?)) > 0 ORDER BY num LIMIT 1", text)
}

// CountApplication implements lesson.PipelineTx.
func (tx *transaction) CountApplication(patternID string, succeeded int64, at time.Time) error {
	_, err := table.Exec(tx.db, "UPDATE patterns SET times_applied = times_applied + 1, times_succeeded = times_succeeded + ?, last_validated = {greatest}(coalesce(last_validated, 0), ?) WHERE id = ?",
		succeeded, table.Millis(at), patternID)
	return err
}

// InsertPattern implements lesson.PipelineTx.
func (tx *transaction) InsertPattern(pattern *lesson.Pattern) (err error) {
	row := rowOfPattern(pattern)
	if pattern.OperationType != "" && pattern.Made == nil {
		// Patterns of operations that the experience server's clients don't see count downwards from −1: the others are ids there.
		if row.Number, err = table.Scalar[int64](tx.db, "SELECT CASE WHEN min(num) < 0 THEN min(num) ELSE 0 END - 1 FROM patterns"); err == nil {
			err = ownPatterns.Insert(tx.db, row)
		}
	} else {
		err = patternRows.Insert(tx.db, row)
	}
	pattern.Number = row.Number
	return err
}

// UpdatePattern implements lesson.PipelineTx.
func (tx *transaction) UpdatePattern(pattern lesson.Pattern) error {
	return patternRows.Update(tx.db, rowOfPattern(&pattern), "id")
}

// evidenceRow is a piece of a pattern's evidence.
type evidenceRow struct {
	pattern string
	lesson.Evidence
}

var evidenceRows = table.Listed("pattern_evidence", []string{"pattern_id", "kind", "ref", "agent_id", "score", "at"}, func(e *evidenceRow) []any {
	return []any{&e.pattern, &e.Kind, &e.Ref, &e.Agent, &e.Score, table.At(&e.At)}
})

// AddEvidence implements lesson.PipelineTx.
func (tx *transaction) AddEvidence(patternID string, evidence ...lesson.Evidence) (int, error) {
	rows := make([]evidenceRow, len(evidence))
	for i, e := range evidence {
		rows[i] = evidenceRow{patternID, e}
	}
	added, err := evidenceRows.InsertAll(tx.db, rows, table.OrKeep)
	return int(added), err
}

// PatternOf implements lesson.PipelineStore.
func (s *Store) PatternOf(ctx context.Context, ref string) (lesson.Pattern, bool, error) {
	db := s.Read.WithContext(ctx)
	where, arg := byRef(ref)
	pattern, ok, err := onePattern(db, where, arg)
	if err == nil && ok {
		err = addEvidence(db, &pattern)
	}
	return pattern, ok, err
}

// ListPatterns implements lesson.PipelineStore.
func (s *Store) ListPatterns(ctx context.Context, filter lesson.PatternFilter) ([]lesson.Pattern, error) {
	db := s.Read.WithContext(ctx)
	var c table.Conditions
	c.Equal("pattern_type", string(filter.Type))
	c.Equal("domain", filter.Domain)
	if len(filter.Statuses) > 0 {
		table.Among(&c, "status", filter.Statuses)
	} else {
		c.Add("{unindexed}status <> ?", string(lesson.PatternDeprecated))
	}
	found, err := patterns(db, c.Text+" ORDER BY last_seen DESC, num DESC LIMIT ? OFFSET ?", c.With(filter.Limit, filter.Offset)...)
	for i := range found {
		if err == nil && !filter.Bare {
			err = addEvidence(db, &found[i])
		}
	}
	return found, err
}

// addEvidence gives a pattern the latest MaxEvidence pieces of each kind of its evidence, the latest first.
func addEvidence(db *gorm.DB, p *lesson.Pattern) error {
	const latest = "SELECT ref FROM pattern_evidence WHERE pattern_id = ? AND kind = ? ORDER BY num DESC LIMIT ?"
	var err error
	if p.LessonIDs, err = table.List(db, table.Value[string], latest, p.ID, lesson.EvidenceLesson, lesson.MaxEvidence); err == nil {
		p.EpisodeIDs, err = table.List(db, table.Value[int64], latest, p.ID, lesson.EvidenceEpisode, lesson.MaxEvidence)
	}
	return err
}

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
	c.Equal("{unindexed}domain", domain)
	return lessons(s.Read.WithContext(ctx), unbounded, c.Text+" ORDER BY coalesce(last_validated_at, created_at), num LIMIT ?", c.With(limit)...)
}

// PromotableLessons implements lesson.PatternStore.
func (s *Store) PromotableLessons(ctx context.Context, domain string, cases, applications, limit int) ([]lesson.Lesson, error) {
	db := s.Read.WithContext(ctx)
	var found []lesson.Lesson
	for _, source := range []struct {
		by, where string
		args      []any
	}{
		{"", "id IN (SELECT representative FROM patterns WHERE status IN ('emerging', 'confirmed') AND lessons >= ? ORDER BY lessons DESC, num LIMIT ?) AND level = 'case'", []any{cases, limit}},
		{"", "level = 'case' AND source_case_ids <> '[]'", nil},
		{byLevels, "level <> 'case' AND level = 'pattern' AND times_succeeded >= ?", []any{applications}},
	} {
		var c table.Conditions
		c.Add(source.where, source.args...)
		c.Add(inUse)
		c.Equal("{unindexed}domain", domain)
		some, err := lessons(db, unbounded, source.by+c.Text+" ORDER BY num DESC LIMIT ?", c.With(limit)...)
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
