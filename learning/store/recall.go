package store

import (
	"context"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/internal/database/table"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/lesson"
	"github.com/skillrouter/skillrouter/learning/propagation"
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

// RecentFor implements lesson.RecallStore.
func (s *Store) RecentFor(ctx context.Context, scope lesson.RecallScope, limit int) ([]lesson.Lesson, error) {
	return s.latestOf(ctx, branches(scope), limit, learning.MaxAnswer)
}

// latestOf reads the latest lessons in use of any branch, most bytes of them. Each branch gives its latest from its own index.
func (s *Store) latestOf(ctx context.Context, list []branch, limit, most int) ([]lesson.Lesson, error) {
	var parts []string
	var args []any
	for _, b := range list {
		parts = append(parts, "SELECT num FROM (SELECT num FROM lessons WHERE ("+b.where+") AND "+inUse+" ORDER BY num DESC LIMIT ?) AS latest")
		args = append(append(args, b.arg...), limit)
	}
	return lessons(s.Read.WithContext(ctx), most,
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

// ByTopic implements lesson.RecallStore.
func (s *Store) ByTopic(ctx context.Context, topics []string, limit int) (map[string][]lesson.Lesson, error) {
	found := map[string][]lesson.Lesson{}
	for _, topic := range topics {
		spellings := lesson.Spellings(topic) // lower changes ASCII letters alone in SQLite
		list := []branch{{
			"num > (SELECT coalesce(max(num), 0) FROM lessons) - ? AND EXISTS (SELECT 1 FROM {elements tags} WHERE lower(value) = ? OR value IN (" + table.Marks(len(spellings)) + "))",
			append([]any{lesson.RecallTagged, topic}, table.Anys(spellings)...),
		}}
		for _, spelling := range spellings {
			list = append(list, branch{"domain = ?", []any{spelling}}, branch{"category = ?", []any{spelling}})
		}
		var err error
		if found[topic], err = s.latestOf(ctx, list, limit, learning.MaxAnswer/4); err != nil {
			return nil, err
		}
	}
	return found, nil
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

var _ propagation.Store = (*Store)(nil)

// latestReports is how many of an agent's lessons say which domain it works in.
const latestReports = 200

// ReportedDomains implements propagation.Store.
func (s *Store) ReportedDomains(ctx context.Context, agent string) ([]string, error) {
	return table.List(s.Read.WithContext(ctx), func(domain *string) []any { return []any{domain} },
		"SELECT domain FROM lessons WHERE source_agent = ? ORDER BY num DESC LIMIT ?", agent, latestReports)
}
