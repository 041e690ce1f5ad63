package store

import (
	"context"
	"database/sql"
	"slices"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/internal/database/table"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/experience"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

// sureness is Belief.At of a lesson in SQL. It takes the time and msPerDay.
const sureness = "initial_confidence * exp(-decay_constant * {greatest}(0, ? - confidence_at) / ?)"

// applicable is which lessons may be applied.
const applicable = "(status <> 'retired' OR deprecated)"

// ApplicableLessons implements experience.Reader. It reads an index of
// what it compares, and of the lessons only those that it answers.
func (s *Store) ApplicableLessons(ctx context.Context, where experience.Whereabouts, minConfidence float64, limit int, at time.Time) ([]lesson.Lesson, experience.ConfidenceSummary, error) {
	var summary experience.ConfidenceSummary
	db := s.Read.WithContext(ctx)
	var fits table.Conditions
	fits.Add(applicable)
	if t := where.OperationType; t != "" {
		fits.Add(`(contexts = '[]' OR {position}(lower(title), ?) > 0 OR EXISTS (SELECT 1 FROM {elements contexts} WHERE {position}(lower(value), ?) > 0)
			OR pattern_id IN (SELECT id FROM patterns WHERE made_type <> '' AND {position}(lower(made_text), ?) > 0))`, t, t, t)
	}
	if where.Context {
		held := strings.Repeat(" OR {position}(lower(value), ?) > 0", len(where.Names)) + strings.Repeat(" OR {position}(?, lower(value)) > 0", len(where.Texts))
		fits.Add("(contexts = '[]' OR EXISTS (SELECT 1 FROM {elements contexts} WHERE false"+held+"))", append(table.Anys(where.Names), table.Anys(where.Texts)...)...)
	}
	sure := "SELECT num, sure FROM (SELECT num, " + sureness + " AS sure FROM lessons {indexed by lessons_listed} " + fits.Text + ") AS held WHERE sure >= ?"
	args := append(append([]any{table.Millis(at), msPerDay}, fits.Args...), minConfidence)

	_, err := table.One(db, []any{&summary.High, &summary.Medium, &summary.Low},
		"SELECT count(*) FILTER (WHERE sure >= ?), count(*) FILTER (WHERE sure >= ? AND sure < ?), count(*) FILTER (WHERE sure < ?) FROM ("+sure+") AS fitting",
		append([]any{lesson.HighConfidence, lesson.MediumConfidence, lesson.HighConfidence, lesson.MediumConfidence}, args...)...)
	if err != nil {
		return nil, summary, err
	}
	order, err := table.List(db, table.Value[int64], "SELECT num FROM ("+sure+" ORDER BY sure DESC, num LIMIT ?) AS surest", append(args, limit)...)
	if err != nil {
		return nil, summary, err
	}
	place := make(map[int64]int, len(order)) // a lesson's place among them, by its number
	for i, number := range order {
		place[number] = i
	}
	var found []lesson.Lesson
	size := 0
	for part := range slices.Chunk(order, table.Lookups) {
		some, err := lessons(db, unbounded, "WHERE num IN ("+table.Marks(len(part))+")", table.Anys(part)...)
		if err != nil {
			return nil, summary, err
		}
		slices.SortFunc(some, func(a, b lesson.Lesson) int { return place[a.Number] - place[b.Number] })
		for i := range some {
			if size += lessonSize(&some[i]); size > learning.MaxAnswer && len(found) > 0 {
				return found, summary, nil
			}
			found = append(found, some[i])
		}
	}
	return found, summary, nil
}

// ExperiencePatterns implements experience.Reader.
func (s *Store) ExperiencePatterns(ctx context.Context, operationType string, filter lesson.PatternFilter) ([]lesson.Pattern, int64, error) {
	db := s.Read.WithContext(ctx)
	var c table.Conditions
	if operationType != "" {
		c.Add("made_type <> '' AND (operation_type = ? OR operation_type = '' AND {position}(made_text, ?) > 0)", operationType, operationType)
	}
	if filter.Type != "" {
		c.Add("(made_type = ? OR made_type = '' AND pattern_type = ?)", string(filter.Type), string(filter.Type))
	}
	c.Add("num > 0") // the others are the model's own
	c.Equal("domain", filter.Domain)
	if len(filter.Statuses) > 0 {
		table.Among(&c, "status", filter.Statuses)
	} else {
		c.Add("status <> ?", string(lesson.PatternDeprecated))
	}
	rows, err := table.Query(db, selectPattern()+c.Text+" ORDER BY weight DESC, num DESC LIMIT ? OFFSET ?", append(slices.Clone(c.Args), filter.Limit, filter.Offset)...)
	found := []lesson.Pattern{}
	size, more := 0, false
	if err := table.Each(rows, err).Visit(func(rows *sql.Rows) (bool, error) {
		p, bytes, err := scanPattern(rows)
		size += bytes
		if more = size > learning.MaxAnswer && len(found) > 0; !more {
			found = append(found, p)
		}
		return !more, err
	}); err != nil {
		return nil, 0, err
	}
	for i := range found {
		if found[i].Made == nil {
			if err := addEvidence(db, &found[i]); err != nil {
				return nil, 0, err
			}
		}
	}
	total := int64(filter.Offset + len(found))
	if more || len(found) == filter.Limit || len(found) == 0 && filter.Offset > 0 {
		_, err = table.One(db, []any{&total}, "SELECT count(*) FROM patterns "+c.Text, c.Args...)
	}
	return found, total, err
}

// patternSize is about how many bytes of an answer a pattern is.
func patternSize(p *lesson.Pattern) int {
	const figures = 400 // its names, numbers and times
	size := figures + 2*len(p.Description)
	if p.Made != nil {
		size += len(p.Made.Description) + 8*len(p.Made.EpisodeIDs)
	}
	return size
}

// TotalExperiences implements experience.Reader.
func (s *Store) TotalExperiences(ctx context.Context, operationType string) (total int64, err error) {
	text, args := "SELECT CAST(coalesce(sum(episodes), 0) AS BIGINT) FROM operations", []any{}
	if operationType != "" {
		text, args = text+" WHERE operation_type = ?", []any{operationType}
	}
	_, err = table.One(s.Read.WithContext(ctx), []any{&total}, text, args...)
	return total, err
}

// PatternNumbers implements experience.Reader.
func (s *Store) PatternNumbers(ctx context.Context, ids []string) (map[string]int64, error) {
	return numbersOf(s.Read.WithContext(ctx), "patterns", ids)
}
