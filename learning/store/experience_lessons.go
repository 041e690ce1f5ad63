package store

import (
	"context"
	"slices"
	"time"

	"skillrouter/learning"
)

// sureness is Belief.At of a lesson in SQL. It takes the time and msPerDay.
const sureness = "initial_confidence * exp(-decay_constant * max(0, ? - confidence_at) / ?)"

// ApplicableLessons implements learning.ExperienceReader. It reads an index of
// what it compares, and of the lessons only those that it answers.
func (s *Store) ApplicableLessons(ctx context.Context, contexts []string, minConfidence float64, limit int, at time.Time) ([]learning.Lesson, learning.ConfidenceSummary, error) {
	var summary learning.ConfidenceSummary
	db := s.read.WithContext(ctx)
	named, args := "0", []any{millis(at), msPerDay}
	fits := "true"
	if len(contexts) > 0 {
		named = "EXISTS (SELECT 1 FROM json_each(contexts) WHERE lower(value) IN (" + marks(len(contexts)) + "))"
		fits = "(named OR contexts = '[]')"
		args = append(args, anys(contexts)...)
	}
	sure := "SELECT num, sure, named FROM (SELECT num, contexts, " + sureness + " AS sure, " + named + " AS named FROM lessons INDEXED BY lessons_applicable " +
		"WHERE status <> 'retired') WHERE " + fits + " AND sure >= ?"
	args = append(args, minConfidence)

	_, err := one(db, []any{&summary.High, &summary.Medium, &summary.Low},
		"SELECT coalesce(sum(sure >= ?), 0), coalesce(sum(sure >= ? AND sure < ?), 0), coalesce(sum(sure < ?), 0) FROM ("+sure+")",
		append([]any{learning.HighConfidence, learning.MediumConfidence, learning.HighConfidence, learning.MediumConfidence}, args...)...)
	if err != nil {
		return nil, summary, err
	}
	rows, err := query(db, sure+" ORDER BY named DESC, sure DESC, num DESC LIMIT ?", append(slices.Clone(args), limit)...)
	if err != nil {
		return nil, summary, err
	}
	var order []int64
	for rows.Next() {
		var number int64
		var confidence float64
		var named bool
		if err := rows.Scan(&number, &confidence, &named); err != nil {
			return nil, summary, closing(rows, err)
		}
		order = append(order, number)
	}
	if err := closing(rows, rows.Err()); err != nil || len(order) == 0 {
		return nil, summary, err
	}
	found, err := lessons(db, learning.MaxAnswer, "WHERE num IN ("+marks(len(order))+")", anys(order)...)
	slices.SortFunc(found, func(a, b learning.Lesson) int { return slices.Index(order, a.Number) - slices.Index(order, b.Number) })
	return found, summary, err
}

// OperationPatterns implements learning.ExperienceReader.
func (s *Store) OperationPatterns(ctx context.Context, operationType string) ([]learning.Pattern, error) {
	db := s.read.WithContext(ctx)
	found, err := patterns(db, "WHERE operation_type = ? AND operation_type <> '' AND status <> 'deprecated' ORDER BY last_seen DESC, num DESC LIMIT ?", operationType, learning.MaxLimit)
	for i := range found {
		if err == nil {
			err = addEvidence(db, &found[i])
		}
	}
	return found, err
}

// PatternNumbers implements learning.ExperienceReader.
func (s *Store) PatternNumbers(ctx context.Context, ids []string) (map[string]int64, error) {
	return numbersOf(s.read.WithContext(ctx), "patterns", ids)
}
