package learning_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/guard/rule"
	"github.com/skillrouter/skillrouter/learning/learningtest"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

// school is lessons and the patterns that form of them, on a database of its own.
type school struct {
	memory
	lessons  *lesson.Lessons
	patterns *lesson.Patterns
	clock    *schoolClock
}

// schoolClock is a time that tests move.
type schoolClock struct {
	mu sync.Mutex
	at time.Time
}

func (c *schoolClock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *schoolClock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

func openSchool(t testing.TB) *school {
	return reopenSchool(t, t.TempDir(), &schoolClock{at: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)})
}

func reopenSchool(t testing.TB, dir string, c *schoolClock) *school {
	m := open(t, dir, c.now)
	options := learning.Options{Now: c.now}
	patterns := lesson.NewPatterns(m.store, lesson.PatternOptions{Options: options})
	lessons := lesson.NewLessons(m.store, lesson.Options{Options: options, Patterns: patterns})
	if err := lessons.Rebuild(t.Context()); err != nil {
		t.Fatal(err)
	}
	return &school{m, lessons, patterns, c}
}

// report reports a lesson as an open router's client.
func (s *school) report(t testing.TB, draft lesson.Draft) lesson.Reported {
	t.Helper()
	got, err := s.lessons.Report(principal.With(t.Context(), principal.Open()), draft)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func (s *school) list(t testing.TB, filter lesson.PatternFilter) []lesson.Pattern {
	t.Helper()
	got, err := s.patterns.List(principal.With(t.Context(), principal.Open()), filter)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func (s *school) events(t testing.TB, prefix string) (types []string) {
	t.Helper()
	events, err := s.store.Events(t.Context(), 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		if strings.HasPrefix(e.Type, prefix) {
			types = append(types, e.Type)
		}
	}
	return types
}

// drawnFrom are the drafts of testdata's pairs on one problem in other words.
func drawnFrom(t testing.TB, relation string) (pairs [][2]lesson.Draft) {
	t.Helper()
	for _, p := range likenessPairs(t) {
		if p.Relation == relation {
			for _, d := range []*lesson.Draft{&p.A, &p.B} {
				d.Type, d.Domain, d.Category, d.SourceAgent = learning.LessonFailure, "infrastructure", "containers", "HADES"
			}
			pairs = append(pairs, [2]lesson.Draft{p.A, p.B})
		}
	}
	return pairs
}

func TestPatternContract(t *testing.T) {
	learningtest.RunPatterns(t, func(t *testing.T) (lesson.Service, lesson.PatternService) {
		s := reopenSchool(t, t.TempDir(), &schoolClock{at: time.Now()})
		return s.lessons, s.patterns
	})
}

// TestPatternEmergesAndIsConfirmed follows one pattern from its second lesson
// to its confirmation by evidence, and holds its figures.
func TestPatternEmergesAndIsConfirmed(t *testing.T) {
	s := openSchool(t)
	agents := []string{"HADES", "CHRONOS", "HADES", "AEGIS", "CHRONOS"}
	details := []string{"the worker", "the api", "the scheduler", "the exporter", "the gateway"}
	var answers []int
	for i, agent := range agents {
		low := 0.5 + 0.1*float64(i)
		got := s.report(t, lesson.Draft{
			Type: learning.LessonFailure, Domain: "infrastructure", Category: fmt.Sprint("category", i), SourceAgent: agent,
			Title: "Connection pool of " + details[i] + " exhausted after the nightly import", Context: "Load peak while " + details[i] + " was deployed",
			Action: "Restarted " + details[i], Outcome: "Timeouts until the pool was larger", RootCause: "Each import job opens connections and never returns them to the pool",
			Solution: fmt.Sprintf("Return connections in step %d", i), Confidence: &low, Tags: []string{"postgres", "pool"},
		})
		if got.Duplicate {
			t.Fatalf("report %d counts as a duplicate", i)
		}
		answers = append(answers, got.Patterns)
		s.clock.pass(time.Minute)
	}
	if diff := cmp.Diff([]int{0, 1, 1, 1, 1}, answers); diff != "" {
		t.Errorf("patterns detected: %s", diff)
	}
	found := s.list(t, lesson.PatternFilter{})
	if len(found) != 1 {
		t.Fatalf("%d patterns: %+v", len(found), found)
	}
	p := found[0]
	if p.Type != lesson.PatternRecurringFailure || p.Status != lesson.PatternConfirmed || p.ConfirmedBy != "" || p.ConfirmedAt == nil ||
		p.Lessons != 5 || p.Agents != 3 || p.Frequency != 5 || len(p.LessonIDs) != 5 || p.Domain != "infrastructure" {
		t.Errorf("%+v", p)
	}
	// 1 − 0.5·e^−(0.15·3 + 0.35·2) = 0.8417
	if p.Confidence < 0.841 || p.Confidence > 0.842 {
		t.Errorf("confidence %g", p.Confidence)
	}
	if p.Action != "Return connections in step 4" || !slices.Contains(p.Prevention, "Return connections in step 0") {
		t.Errorf("recommends %q, prevents by %q", p.Action, p.Prevention)
	}
	why := strings.Join(p.Why, "\n")
	for _, part := range []string{"5 times in 5 lessons of 3 agents", "AEGIS, CHRONOS, HADES", "shared words: ", "pool", "shared root cause: ", "shared tags: postgres"} {
		if !strings.Contains(why, part) {
			t.Errorf("why does not tell %q:\n%s", part, why)
		}
	}
	want := []string{lesson.EventPatternEmerged, lesson.EventPatternSeen, lesson.EventPatternSeen, lesson.EventPatternSeen, lesson.EventPatternConfirmed}
	if diff := cmp.Diff(want, s.events(t, "pattern.")); diff != "" {
		t.Error(diff)
	}
}

// TestPatternsOfPairs: lessons on one problem in other words form a pattern. Of pairs that were written to be mistaken for one
// another, such as a restart of nginx and one of redis, at most a quarter does.
func TestPatternsOfPairs(t *testing.T) {
	for relation, least := range map[string]int{"same": 80, "other": 0} {
		s := openSchool(t)
		pairs := drawnFrom(t, relation)
		for _, pair := range pairs {
			s.report(t, pair[0])
		}
		for _, pair := range pairs {
			s.report(t, pair[1])
		}
		found := s.list(t, lesson.PatternFilter{})
		t.Logf("%s: %d patterns of %d pairs", relation, len(found), len(pairs))
		if 100*len(found) < least*len(pairs) || relation == "other" && len(found) > 4 {
			t.Errorf("%s: %d patterns of %d pairs", relation, len(found), len(pairs))
		}
		for _, p := range found {
			if relation == "other" {
				t.Logf("%q %q: %v", p.Name, p.LessonIDs, p.Why)
			}
			if p.Lessons != 2 {
				t.Errorf("%q gathers %d lessons: %v", p.Name, p.Lessons, p.Why)
			}
		}
	}
}

// TestPatternOfOneLesson: a lesson that another agent reports too, or that
// occurs three times, recurs.
func TestPatternOfOneLesson(t *testing.T) {
	draft := drawnFrom(t, "other")[1][0]
	for name, agents := range map[string][]string{
		"another agent": {"HADES", "AEGIS"},
		"three times":   {"HADES", "HADES", "HADES"},
	} {
		s := openSchool(t)
		for i, agent := range agents {
			draft.SourceAgent = agent
			if got := s.report(t, draft); (got.Patterns > 0) != (i == len(agents)-1) {
				t.Errorf("%s: report %d: %d patterns", name, i, got.Patterns)
			}
		}
		draft.SourceAgent = "ARGUS"
		s.report(t, draft)
		found := s.list(t, lesson.PatternFilter{})
		if len(found) != 1 || found[0].Lessons != 1 || found[0].Frequency != int64(len(agents)+1) || found[0].Agents != int64(len(slices.Compact(agents))+1) {
			t.Errorf("%s: %+v", name, found)
		}
	}
}

func TestPatternOfCommandFailures(t *testing.T) {
	s := openSchool(t)
	for i, d := range drawnFrom(t, "other")[:3] {
		draft := d[0]
		draft.RelatedCommands = []string{" docker  compose down -v ", "git"}
		draft.SourceAgent = fmt.Sprint("a", i)
		draft.Severity = learning.SeverityCritical
		s.report(t, draft)
	}
	found := s.list(t, lesson.PatternFilter{Type: lesson.PatternAntiPattern})
	if len(found) != 1 || found[0].Command != "docker compose down -v" || found[0].Lessons != 3 || found[0].Status != lesson.PatternEmerging {
		t.Fatalf("%+v", found)
	}
	lessons, err := s.store.Lessons(t.Context(), found[0].LessonIDs)
	if err != nil {
		t.Fatal(err)
	}
	r := lesson.PatternRule(found[0], lessons)
	if diff := cmp.Diff([]string{"docker compose down -v"}, r.Commands); diff != "" || r.Severity != learning.SeverityHigh || r.ID != found[0].ID || r.Block {
		t.Errorf("%+v: %s", r, diff)
	}
	if _, err := rule.NewRule(r); err != nil {
		t.Errorf("the guard refuses the rule: %v", err)
	}
}

// TestActionIsACommand: reporters of seed 000 give no commands with a failure. What was done counts, where it reads as a command.
func TestActionIsACommand(t *testing.T) {
	s := openSchool(t)
	for i, d := range drawnFrom(t, "other")[:6] {
		draft := d[0]
		draft.RelatedCommands, draft.Action, draft.SourceAgent, draft.Severity = nil, "redis-cli FLUSHALL", fmt.Sprint("a", i), learning.SeverityCritical
		if i >= 3 {
			draft.Action = "Flushed the cache by hand" // prose: no command failed
		}
		s.report(t, draft)
	}
	found := s.list(t, lesson.PatternFilter{Type: lesson.PatternAntiPattern})
	if len(found) != 1 || found[0].Command != "redis-cli FLUSHALL" || found[0].Lessons != 3 {
		t.Fatalf("%+v", found)
	}
}

// TestPatternsDoNotChain: lessons of which each is like the next, and the last
// nothing like the first, must not become one pattern.
func TestPatternsDoNotChain(t *testing.T) {
	s := openSchool(t)
	const links = 60
	word := func(i int) string {
		return fmt.Sprintf("matter%s", strings.Map(func(r rune) rune { return r - '0' + 'a' }, fmt.Sprint(i)))
	}
	for i := range links {
		var text []string
		for j := range 8 {
			text = append(text, word(i+j))
		}
		said := strings.Join(text, " ")
		s.report(t, lesson.Draft{
			Type: learning.LessonFailure, Domain: "d", Category: "c", SourceAgent: fmt.Sprint("a", i%5),
			Title: said, Context: said, Action: "did", Outcome: said, RootCause: said,
		})
	}
	found := s.list(t, lesson.PatternFilter{Limit: learning.MaxLimit})
	belongs := map[string]int{}
	for _, p := range found {
		// Half of a lesson's words are those of one 4 links away: a pattern reaches that far to either side.
		if p.Lessons > 12 {
			t.Errorf("%q gathers %d of %d links", p.Name, p.Lessons, links)
		}
		for _, id := range p.LessonIDs {
			belongs[id]++
		}
	}
	if len(found) < links/12 {
		t.Errorf("%d patterns", len(found))
	}
	for id, n := range belongs {
		if n > 1 {
			t.Errorf("lesson %s is in %d patterns of a kind", id, n)
		}
	}
}

func TestPatternCrossesDomains(t *testing.T) {
	s := openSchool(t)
	draft := lesson.Draft{
		Type: learning.LessonWarning, Domain: "billing", Category: "jobs", SourceAgent: "HADES", Title: "Retried jobs run twice without an idempotency key",
		Context: "A job timed out and was retried", Action: "Retried it", Outcome: "It ran twice", RootCause: "The worker has no idempotency key and repeats side effects",
	}
	s.report(t, draft)
	draft.Domain, draft.Category, draft.SourceAgent, draft.Title = "notifications", "mail", "HERMES", "Without an idempotency key a retried mail job runs twice"
	s.report(t, draft)
	found := s.list(t, lesson.PatternFilter{})
	if len(found) != 1 || found[0].Domain != lesson.CrossDomain || !slices.Contains(found[0].Why, "it holds across domains") {
		t.Errorf("%+v", found)
	}
	if diff := cmp.Diff([]string{"jobs", "mail"}, found[0].Categories); diff != "" {
		t.Error(diff)
	}
}

// TestPatternFades: a pattern whose confidence has decayed, or whose lessons
// are all retired, is deprecated, and emerges anew when it is seen again. One
// that somebody deprecated does not.
func TestPatternFades(t *testing.T) {
	s := openSchool(t)
	ctx := principal.With(t.Context(), principal.Open())
	pair := drawnFrom(t, "same")[1]
	ids := []string{s.report(t, pair[0]).LessonID, s.report(t, pair[1]).LessonID}
	status := func() lesson.PatternStatus {
		return s.list(t, lesson.PatternFilter{Statuses: lesson.PatternStatuses()})[0].Status
	}
	if n, err := s.patterns.Fade(t.Context()); n != 0 || err != nil || status() != lesson.PatternEmerging {
		t.Fatalf("%d faded, %v: %s", n, err, status())
	}
	s.clock.pass(200 * 24 * time.Hour) // 0.5·e^−2 = 0.07
	if n, err := s.patterns.Fade(t.Context()); n != 1 || err != nil || status() != lesson.PatternDeprecated {
		t.Fatalf("%d faded, %v: %s", n, err, status())
	}
	if got := s.report(t, pair[0]); got.Patterns != 1 || status() != lesson.PatternEmerging {
		t.Errorf("seen again: %d patterns, %s", got.Patterns, status())
	}
	for _, id := range ids {
		if _, err := s.lessons.Retire(ctx, id, lesson.RetirementDraft{Reason: "obsolete"}); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := s.patterns.Fade(t.Context()); n != 1 || err != nil || status() != lesson.PatternDeprecated {
		t.Fatalf("%d faded, %v: %s", n, err, status())
	}
	if got := s.report(t, pair[1]); got.Patterns != 1 || status() != lesson.PatternEmerging {
		t.Errorf("seen again: %d patterns, %s", got.Patterns, status())
	}
	if _, err := s.patterns.Deprecate(ctx, "1", lesson.ConfirmationDraft{By: "Damon W."}); err != nil {
		t.Fatal(err)
	}
	if got := s.report(t, pair[1]); got.Patterns != 0 || status() != lesson.PatternDeprecated {
		t.Errorf("deprecated by somebody: %d patterns, %s", got.Patterns, status())
	}
	want := []string{
		lesson.EventPatternEmerged, lesson.EventPatternDeprecated, lesson.EventPatternEmerged, lesson.EventPatternDeprecated,
		lesson.EventPatternEmerged, lesson.EventPatternDeprecated,
	}
	if diff := cmp.Diff(want, s.events(t, "pattern.")); diff != "" {
		t.Error(diff)
	}
}

// TestPatternsSurviveARestart: what formed before is joined after.
func TestPatternsSurviveARestart(t *testing.T) {
	dir, c := t.TempDir(), &schoolClock{at: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)}
	pair := drawnFrom(t, "same")[4]
	t.Run("before", func(t *testing.T) {
		s := reopenSchool(t, dir, c)
		s.report(t, pair[0])
		s.report(t, pair[1])
	})
	t.Run("after", func(t *testing.T) {
		s := reopenSchool(t, dir, c)
		third := pair[1]
		third.Title = "Out of disk space on the CI runner again, layers were not pruned"
		third.SourceAgent = "AEGIS"
		if got := s.report(t, third); got.Duplicate || got.Patterns != 1 {
			t.Errorf("%+v", got)
		}
		found := s.list(t, lesson.PatternFilter{})
		if len(found) != 1 || found[0].Lessons != 3 || found[0].Agents != 2 {
			t.Errorf("%+v", found)
		}
	})
}

// TestPatternsDoNotDependOnBatches: the same reports give the same patterns one by one and in bulk.
func TestPatternsDoNotDependOnBatches(t *testing.T) {
	var drafts []lesson.Draft
	for _, relation := range []string{"same", "duplicate", "other"} {
		for i, pair := range drawnFrom(t, relation) {
			pair[1].SourceAgent = fmt.Sprint("a", i%3)
			drafts = append(drafts, pair[0], pair[1], pair[0])
		}
	}
	one, bulk := openSchool(t), openSchool(t)
	for _, d := range drafts {
		one.report(t, d)
	}
	if _, err := bulk.lessons.ReportAll(principal.With(t.Context(), principal.Open()), drafts); err != nil {
		t.Fatal(err)
	}
	filter := lesson.PatternFilter{Limit: learning.MaxLimit}
	a, b := one.list(t, filter), bulk.list(t, filter)
	if len(a) == 0 {
		t.Fatal("no patterns")
	}
	ignore := cmpopts.IgnoreFields(lesson.Pattern{}, "ID", "LessonIDs", "Representative")
	if diff := cmp.Diff(a, b, ignore); diff != "" {
		t.Error(diff)
	}
}

// TestPatternsConcurrently: reports at once lose no evidence and count none twice.
func TestPatternsConcurrently(t *testing.T) {
	s := openSchool(t)
	ctx := principal.With(t.Context(), principal.Open())
	pair := drawnFrom(t, "same")[6]
	var all sync.WaitGroup
	const each = 12
	for i := range 8 {
		all.Go(func() {
			for range each {
				draft := pair[i%2]
				draft.SourceAgent = fmt.Sprint("agent", i%4)
				if _, err := s.lessons.Report(ctx, draft); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	found := s.list(t, lesson.PatternFilter{})
	var lessons, seen int64
	for _, p := range found {
		lessons += p.Lessons
		seen += p.Frequency
	}
	if lessons != 2 || seen != 8*each {
		t.Errorf("%d lessons, seen %d times, in %d patterns", lessons, seen, len(found))
	}
}

// TestUnrelatedLessonsFormNoPattern is the negative control: 500 lessons on as many matters, made of the parts that reports
// have in common. While the memory is small, two of them may stand out against the few others.
func TestUnrelatedLessonsFormNoPattern(t *testing.T) {
	s := openSchool(t)
	drafts := unrelated()
	if _, err := s.lessons.ReportAll(principal.With(t.Context(), principal.Open()), drafts); err != nil {
		t.Fatal(err)
	}
	found := s.list(t, lesson.PatternFilter{Limit: learning.MaxLimit})
	for _, p := range found {
		t.Logf("%s: %s %v", p.Type, p.Name, p.Why)
	}
	if len(found) > 8 {
		t.Errorf("%d patterns of %d unrelated lessons", len(found), len(drafts))
	}
}

// TestPatternWithMuchEvidenceCostsNoMore: joining a pattern reads and writes as
// much with thousands of lessons as with ten.
func TestPatternWithMuchEvidenceCostsNoMore(t *testing.T) {
	s := openSchool(t)
	draft := drawnFrom(t, "same")[7][0]
	n := 2000
	if testing.Short() {
		n = 300
	}
	drafts := make([]lesson.Draft, n)
	for i := range drafts {
		drafts[i] = draft
		drafts[i].Title = fmt.Sprintf("npm ci fails with ERESOLVE in package-%d/web", i)
		drafts[i].SourceAgent = fmt.Sprint("agent", i%100)
	}
	if _, err := s.lessons.ReportAll(principal.With(t.Context(), principal.Open()), drafts); err != nil {
		t.Fatal(err)
	}
	found := s.list(t, lesson.PatternFilter{})
	if len(found) != 1 || found[0].Lessons != int64(n) || found[0].Agents != 100 || len(found[0].LessonIDs) != lesson.MaxEvidence || len(found[0].Why) > 8 {
		text, _ := json.Marshal(found)
		t.Errorf("%d patterns: %.600s", len(found), text)
	}
}
