package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"gorm.io/gorm"

	"skillrouter/internal/database/table"
	"skillrouter/learning"
	"skillrouter/learning/lesson"
)

var _ lesson.RecallStore = (*Store)(nil)

const (
	// general is what makes a lesson one for everybody: the condition of the index lessons_general.
	general = "severity = 'critical' OR level = 'principle' OR transferability >= 4"
	// inUse says that a lesson is not retired. No index is chosen for it: nearly every lesson passes.
	inUse = "{unindexed}status <> 'retired'"
)

// branch is one reason for which a lesson is in a memory, with an index that gives its lessons in order.
type branch struct {
	where string
	arg   []any
}

func branches(scope lesson.RecallScope) []branch {
	list := []branch{{general, nil}}
	if scope.Agent != "" {
		list = append(list, branch{"source_agent = ?", []any{scope.Agent}})
	}
	for _, domain := range lesson.Spellings(scope.Domain) {
		list = append(list, branch{"domain = ?", []any{domain}})
	}
	return list
}

// RecentFor implements lesson.RecallStore. Each reason gives its latest
// lessons from an index, and the latest of all are read.
func (s *Store) RecentFor(ctx context.Context, scope lesson.RecallScope, limit int) ([]lesson.Lesson, error) {
	var parts []string
	var args []any
	for _, b := range branches(scope) {
		parts = append(parts, "SELECT num FROM (SELECT num FROM lessons WHERE ("+b.where+") AND "+inUse+" ORDER BY num DESC LIMIT ?) AS latest")
		args = append(append(args, b.arg...), limit)
	}
	return lessons(s.Read.WithContext(ctx), learning.MaxAnswer,
		"WHERE num IN (SELECT num FROM ("+strings.Join(parts, " UNION ")+") AS latest ORDER BY num DESC LIMIT ?) ORDER BY num DESC", append(args, limit)...)
}

// CountFor implements lesson.RecallStore, from indexes alone.
func (s *Store) CountFor(ctx context.Context, scope lesson.RecallScope) (int, error) {
	var parts []string
	var args []any
	for _, b := range branches(scope) {
		parts = append(parts, "SELECT num FROM lessons WHERE "+b.where)
		args = append(args, b.arg...)
	}
	return table.Scalar[int](s.Read.WithContext(ctx), "SELECT count(*) FROM ("+strings.Join(parts, " UNION ")+" EXCEPT SELECT num FROM lessons WHERE status = 'retired' AND status <> 'candidate') AS held", args...)
}

// Latest implements lesson.RecallStore, from an index in the order of the listing.
func (s *Store) Latest(ctx context.Context, filter lesson.RecallFilter) ([]lesson.Lesson, error) {
	var c table.Conditions
	by := ""
	if filter.SourceAgent == "" && filter.Type == "" {
		by = byOrder(&c, filter.Severity, "", nil)
	}
	c.Equal("source_agent", filter.SourceAgent)
	if filter.SourceAgent != "" && filter.Type != "" {
		c.Add("{unindexed}lesson_type = ?", string(filter.Type))
	} else {
		c.Equal("lesson_type", string(filter.Type))
	}
	c.Equal("severity", string(filter.Severity))
	c.Add(inUse)
	if !filter.OccurredSince.IsZero() {
		c.Add("last_occurred >= ?", table.Millis(filter.OccurredSince))
	}
	if scope := filter.Scope; scope != nil {
		var reasons []string
		var args []any
		for _, b := range branches(*scope) {
			reasons, args = append(reasons, "("+b.where+")"), append(args, b.arg...)
		}
		c.Add("("+strings.Join(reasons, " OR ")+")", args...)
	}
	return lessons(s.Read.WithContext(ctx), learning.MaxAnswer, by+c.Text+" ORDER BY num DESC LIMIT ?", c.With(filter.Limit)...)
}

// ByTopic implements lesson.RecallStore.
func (s *Store) ByTopic(ctx context.Context, topics []string, limit int) (map[string][]lesson.Lesson, error) {
	db := s.Read.WithContext(ctx)
	tagged, err := taggedWith(db, topics, limit)
	if err != nil {
		return nil, err
	}
	found := map[string][]lesson.Lesson{}
	for _, topic := range topics {
		numbers := tagged[topic]
		for _, spelling := range lesson.Spellings(topic) {
			for _, column := range []string{"domain", "category"} {
				found, err := table.List(db, table.Value[int64], "SELECT num FROM lessons WHERE "+column+" = ? AND "+inUse+" ORDER BY num DESC LIMIT ?", spelling, limit)
				if err != nil {
					return nil, err
				}
				numbers = append(numbers, found...)
			}
		}
		slices.Sort(numbers)
		numbers = slices.Compact(numbers)
		numbers = numbers[max(0, len(numbers)-limit):]
		if len(numbers) == 0 {
			found[topic] = []lesson.Lesson{}
			continue
		}
		if found[topic], err = lessons(db, learning.MaxAnswer/4, "WHERE num IN ("+table.Marks(len(numbers))+") ORDER BY num DESC", table.Anys(numbers)...); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// taggedWith returns the numbers of the latest lessons that have a topic as a tag, newest first.
func taggedWith(db *gorm.DB, topics []string, limit int) (map[string][]int64, error) {
	found := map[string][]int64{}
	err := table.Each(table.Query(db, "SELECT num, tags FROM (SELECT num, tags, status FROM lessons ORDER BY num DESC LIMIT ?) AS latest WHERE tags <> '[]' AND status <> 'retired'", lesson.RecallTagged)).Visit(func(rows *sql.Rows) (bool, error) {
		var num int64
		var text sql.RawBytes
		if err := rows.Scan(&num, &text); err != nil {
			return false, err
		}
		lower := strings.ToLower(string(text))
		var tags []string
		for _, topic := range topics {
			if len(found[topic]) >= limit || !strings.Contains(lower, topic) {
				continue
			}
			if tags == nil {
				if err := json.Unmarshal([]byte(lower), &tags); err != nil {
					return false, err
				}
			}
			if slices.Contains(tags, topic) {
				found[topic] = append(found[topic], num)
			}
		}
		return true, nil
	})
	return found, err
}

// LessonFigures implements lesson.RecallStore.
func (s *Store) LessonFigures(ctx context.Context, today, week time.Time) (lesson.Figures, error) {
	var f lesson.Figures
	for _, q := range []struct {
		into *int
		text string
		args []any
	}{
		{&f.Total, "SELECT count(*) FROM lessons", nil},
		{&f.Failures, "SELECT count(*) FROM lessons WHERE lesson_type = 'failure'", nil},
		{&f.Successes, "SELECT count(*) FROM lessons WHERE lesson_type = 'success'", nil},
		{&f.AntiPatterns, "SELECT count(*) FROM lessons WHERE lesson_type = 'anti_pattern'", nil},
		{&f.ConfirmedPatterns, "SELECT count(*) FROM patterns WHERE status = 'confirmed'", nil},
		{&f.Today, "SELECT count(*) FROM lessons WHERE created_at > ?", []any{table.Millis(today)}},
		{&f.ThisWeek, "SELECT count(*) FROM lessons WHERE created_at > ?", []any{table.Millis(week)}},
	} {
		var err error
		if *q.into, err = table.Scalar[int](s.Read.WithContext(ctx), q.text, q.args...); err != nil {
			return f, err
		}
	}
	return f, nil
}
