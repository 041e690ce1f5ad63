package store

import (
	"context"
	"database/sql"
	"slices"
	"strings"
	"time"

	"gorm.io/gorm"

	"skillrouter/learning/lesson"
)

// patternColumns are the columns of patterns but the number, in the order of patternValues.
var patternColumns = []string{
	"id", "pattern_name", "pattern_type", "description", "domain", "categories", "operation_type", "frequency",
	"first_seen", "last_seen", "status", "confirmed_by", "confirmed_at", "recommended_action", "prevention_steps",
	"weight", "initial_confidence", "decay_constant", "confidence_at", "times_applied", "times_succeeded",
	"last_validated", "created_at", "updated_at", "why", "lessons", "agents", "representative", "command", "action_confidence",
	"made_type", "made_text", "made_confidence", "made_frequency", "made_episodes",
}

// The statements on one pattern, made once.
var (
	insertPattern = "INSERT INTO patterns (" + strings.Join(patternColumns, ", ") + ") VALUES (" + marks(len(patternColumns)) + ") RETURNING num"
	// Patterns of operations that the experience server's clients don't see count downwards from −1: the others are ids there.
	insertOwnPattern = "INSERT INTO patterns (num, " + strings.Join(patternColumns, ", ") + ") VALUES ((SELECT CASE WHEN min(num) < 0 THEN min(num) ELSE 0 END - 1 FROM patterns), " + marks(len(patternColumns)) + ") RETURNING num"
	updatePattern    = "UPDATE patterns SET " + strings.Join(patternColumns[1:], " = ?, ") + " = ? WHERE id = ?"
	selectPattern    = "SELECT num, " + strings.Join(patternColumns, ", ") + " FROM patterns "
)

func patternValues(p *lesson.Pattern) []any {
	var made lesson.PatternAsMade
	if p.Made != nil {
		made = *p.Made
	}
	return []any{
		p.ID, p.Name, string(p.Type), p.Description, p.Domain, listText(p.Categories), p.OperationType, p.Frequency,
		millis(p.FirstSeen), millis(p.LastSeen), string(p.Status), p.ConfirmedBy, millisPtr(p.ConfirmedAt), p.Action, listText(p.Prevention),
		p.Weight, p.InitialConfidence, p.DecayConstant, millis(p.ConfidenceAt), p.TimesApplied, p.TimesSucceeded,
		millisPtr(p.LastValidated), millis(p.CreatedAt), millis(p.UpdatedAt), listText(p.Why), p.Lessons, p.Agents, p.Representative, p.Command, p.ActionConfidence,
		string(made.Type), made.Description, made.InitialConfidence, made.Frequency, listText(made.EpisodeIDs),
	}
}

func patterns(db *gorm.DB, where string, args ...any) ([]lesson.Pattern, error) {
	return upTo(unbounded, scanPattern).of(query(db, selectPattern+where, args...))
}

func scanPattern(rows *sql.Rows) (p lesson.Pattern, size int, err error) {
	p.LessonIDs, p.EpisodeIDs = []string{}, []int64{}
	made := new(lesson.PatternAsMade)
	err = rows.Scan(&p.Number, &p.ID, &p.Name, &p.Type, &p.Description, &p.Domain, fromJSON(&p.Categories), &p.OperationType, &p.Frequency,
		at(&p.FirstSeen), at(&p.LastSeen), &p.Status, &p.ConfirmedBy, atOrNil(&p.ConfirmedAt), &p.Action, fromJSON(&p.Prevention),
		&p.Weight, &p.InitialConfidence, &p.DecayConstant, at(&p.ConfidenceAt), &p.TimesApplied, &p.TimesSucceeded,
		atOrNil(&p.LastValidated), at(&p.CreatedAt), at(&p.UpdatedAt), fromJSON(&p.Why), &p.Lessons, &p.Agents, &p.Representative, &p.Command, &p.ActionConfidence,
		&made.Type, &made.Description, &made.InitialConfidence, &made.Frequency, fromJSON(&made.EpisodeIDs))
	if made.Type != "" {
		p.Made = made
	}
	return p, patternSize(&p), err
}

func onePattern(db *gorm.DB, where string, args ...any) (lesson.Pattern, bool, error) {
	return first(patterns(db, where, args...))
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
	_, err := exec(tx.db, "UPDATE patterns SET times_applied = times_applied + 1, times_succeeded = times_succeeded + ?, last_validated = {greatest}(coalesce(last_validated, 0), ?) WHERE id = ?",
		succeeded, millis(at), patternID)
	return err
}

// InsertPattern implements lesson.PipelineTx.
func (tx *transaction) InsertPattern(pattern *lesson.Pattern) (err error) {
	statement := insertPattern
	if pattern.OperationType != "" && pattern.Made == nil {
		statement = insertOwnPattern
	}
	pattern.Number, err = insertOne(tx.db, statement, patternValues(pattern)...)
	return err
}

// UpdatePattern implements lesson.PipelineTx.
func (tx *transaction) UpdatePattern(pattern lesson.Pattern) error {
	values := patternValues(&pattern)
	_, err := exec(tx.db, updatePattern, append(values[1:], values[0])...)
	return err
}

// AddEvidence implements lesson.PipelineTx.
func (tx *transaction) AddEvidence(patternID string, evidence ...lesson.Evidence) (int, error) {
	added := 0
	for part := range slices.Chunk(evidence, insertValues/6) {
		values := make([]any, 0, 6*len(part))
		for _, e := range part {
			values = append(values, patternID, e.Kind, e.Ref, e.Agent, e.Score, millis(e.At))
		}
		result, err := exec(tx.db, "INSERT INTO pattern_evidence (pattern_id, kind, ref, agent_id, score, at) VALUES (?, ?, ?, ?, ?, ?)"+
			strings.Repeat(", (?, ?, ?, ?, ?, ?)", len(part)-1)+" ON CONFLICT (kind, ref, pattern_id) DO NOTHING", values...)
		if err != nil {
			return 0, err
		}
		rows, err := result.RowsAffected()
		if err != nil {
			return 0, err
		}
		added += int(rows)
	}
	return added, nil
}

// PatternOf implements lesson.PipelineStore.
func (s *Store) PatternOf(ctx context.Context, ref string) (lesson.Pattern, bool, error) {
	db := s.read.WithContext(ctx)
	where, arg := byRef(ref)
	pattern, ok, err := onePattern(db, where, arg)
	if err == nil && ok {
		err = addEvidence(db, &pattern)
	}
	return pattern, ok, err
}

// ListPatterns implements lesson.PipelineStore.
func (s *Store) ListPatterns(ctx context.Context, filter lesson.PatternFilter) ([]lesson.Pattern, error) {
	db := s.read.WithContext(ctx)
	var c conditions
	c.equal("pattern_type", string(filter.Type))
	c.equal("domain", filter.Domain)
	if len(filter.Statuses) > 0 {
		among(&c, "status", filter.Statuses)
	} else {
		c.add("{unindexed}status <> ?", string(lesson.PatternDeprecated))
	}
	found, err := patterns(db, c.text+" ORDER BY last_seen DESC, num DESC LIMIT ? OFFSET ?", append(c.args, filter.Limit, filter.Offset)...)
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
	if p.LessonIDs, err = list(db, value[string], latest, p.ID, lesson.EvidenceLesson, lesson.MaxEvidence); err == nil {
		p.EpisodeIDs, err = list(db, value[int64], latest, p.ID, lesson.EvidenceEpisode, lesson.MaxEvidence)
	}
	return err
}
