package learning_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/skillrouter/skillrouter/internal/database/databasetest"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/escalation"
	"github.com/skillrouter/skillrouter/learning/learningtest"
	"github.com/skillrouter/skillrouter/learning/lesson"
	"github.com/skillrouter/skillrouter/learning/store"
)

// steppedClock is a clock that a test moves.
type steppedClock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *steppedClock {
	return &steppedClock{now: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)}
}

func (c *steppedClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *steppedClock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func as(t *testing.T, agent string, scopes ...principal.Scope) context.Context {
	return principal.With(t.Context(), principal.Principal{AgentID: agent, Scopes: scopes})
}

func value[T any](t *testing.T) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func TestWhoMayDoWhat(t *testing.T) {
	lessons := lesson.NewLessons(open(t, t.TempDir(), time.Now).store, lesson.Options{})
	none := t.Context()
	reader, alice, bob, captain := as(t, "", principal.ScopeRead), as(t, "alice", principal.ScopeAgent), as(t, "bob", principal.ScopeAgent), as(t, "", principal.ScopeCaptain)
	draft := func(title string) lesson.Draft {
		d := learningtest.Draft(title)
		d.SourceAgent = ""
		return d
	}
	id := value[lesson.Reported](t)(lessons.Report(alice, draft("Redirect loop on login page"))).LessonID
	if got := value[lesson.Lesson](t)(lessons.Lesson(reader, id)); got.SourceAgent != "alice" {
		t.Errorf("learned by %q", got.SourceAgent)
	}
	rule := draft("Never drop the production database")
	rule.Type, rule.Severity, rule.RelatedCommands = learning.LessonAntiPattern, learning.SeverityCritical, []string{"dropdb production"}
	ruleID := value[lesson.Reported](t)(lessons.Report(alice, rule)).LessonID

	title, low, high, half, context2 := "Other title", learning.SeverityLow, learning.SeverityHigh, 0.5, "another context"
	now := time.Now()
	said := func(agent string) lesson.Draft {
		d := draft("Zombie workers exhaust semaphore")
		d.SourceAgent = agent
		return d
	}
	graded := func(change func(*lesson.Draft)) func(ctx context.Context) error {
		return func(ctx context.Context) error {
			d := draft("Webhook retries hammer billing")
			change(&d)
			_, err := lessons.Report(ctx, d)
			return err
		}
	}
	validate := func(ref string, draft lesson.ValidationDraft) func(ctx context.Context) error {
		return func(ctx context.Context) error { _, err := lessons.Validate(ctx, ref, draft); return err }
	}
	edit := func(ref string, patch lesson.Patch) func(ctx context.Context) error {
		return func(ctx context.Context) error { _, err := lessons.Edit(ctx, ref, patch); return err }
	}
	const ok, no = errs.Code(""), errs.Forbidden
	for _, c := range []struct {
		name                               string
		call                               func(ctx context.Context) error
		none, reader, bob, alice, captain_ errs.Code
	}{
		{"read", func(ctx context.Context) error { _, err := lessons.Lesson(ctx, id); return err }, no, ok, ok, ok, ok},
		{"list", func(ctx context.Context) error { _, err := lessons.List(ctx, lesson.Filter{}); return err }, no, ok, ok, ok, ok},
		{"search", func(ctx context.Context) error {
			_, err := lessons.Relevant(ctx, lesson.Query{Context: "login"})
			return err
		}, no, ok, ok, ok, ok},
		{"history", func(ctx context.Context) error { _, err := lessons.History(ctx, id); return err }, no, ok, ok, ok, ok},
		{"report", func(ctx context.Context) error { _, err := lessons.Report(ctx, said("")); return err }, no, no, ok, ok, ok},
		{"report in bulk", func(ctx context.Context) error {
			_, err := lessons.ReportAll(ctx, []lesson.Draft{said("")})
			return err
		}, no, no, ok, ok, ok},
		{"report as alice", func(ctx context.Context) error { _, err := lessons.Report(ctx, said("alice")); return err }, no, no, no, ok, ok},
		{"report as judged", graded(func(d *lesson.Draft) { d.Status = lesson.StatusValidated }), no, no, no, no, ok},
		{"report with a date of validation", graded(func(d *lesson.Draft) { d.LastValidatedAt = &now }), no, no, no, no, ok},
		{"report a principle", graded(func(d *lesson.Draft) { d.Level = lesson.LevelPrinciple }), no, no, no, no, ok},
		{"confirm", validate(id, lesson.ValidationDraft{Type: lesson.ValidationConfirmed}), no, no, ok, no, errs.Invalid},
		{"confirm as someone", validate(id, lesson.ValidationDraft{Type: lesson.ValidationConfirmed, By: "Damon W."}), no, no, no, no, ok},
		{"refute", validate(id, lesson.ValidationDraft{Type: lesson.ValidationRefuted, Notes: "n"}), no, no, ok, ok, errs.Invalid},
		{"apply", func(ctx context.Context) error {
			_, err := lessons.Apply(ctx, id, lesson.ApplicationDraft{Outcome: learning.ResultSuccess})
			return err
		}, no, no, ok, ok, ok},
		{"edit", edit(id, lesson.Patch{Context: &context2}), no, no, no, ok, ok},
		{"set a confidence", edit(id, lesson.Patch{Confidence: &half}), no, no, no, no, ok},
		{"edit what a rule says", edit(ruleID, lesson.Patch{Context: &context2}), no, no, no, ok, ok},
		{"retire a rule that blocks", func(ctx context.Context) error {
			if ctx == captain {
				return nil
			}
			_, err := lessons.Retire(ctx, ruleID, lesson.RetirementDraft{Reason: "r"})
			return err
		}, no, no, no, no, ok},
		{"weaken a rule by its title", edit(ruleID, lesson.Patch{Title: &title}), no, no, no, no, ok},
		{"weaken a rule by its severity", edit(ruleID, lesson.Patch{Severity: &low}), no, no, no, no, ok},
		{"weaken one that blocks no more", edit(ruleID, lesson.Patch{Severity: &high}), no, no, no, ok, ok},
		{"retire", func(ctx context.Context) error {
			_, err := lessons.Retire(ctx, id, lesson.RetirementDraft{Reason: "r"})
			if err == nil {
				_, err = lessons.Restore(ctx, id, "")
			}
			return err
		}, no, no, no, ok, ok},
	} {
		for who, call := range map[string]struct {
			ctx  context.Context
			want errs.Code
		}{"nobody": {none, c.none}, "a reader": {reader, c.reader}, "bob": {bob, c.bob}, "alice": {alice, c.alice}} {
			if got := errs.CodeOf(c.call(call.ctx)); got != call.want {
				t.Errorf("%s by %s: %q, want %q", c.name, who, got, call.want)
			}
		}
		if got := errs.CodeOf(c.call(captain)); got != c.captain_ { // last: a captain may change what the others must not
			t.Errorf("%s by a captain: %q, want %q", c.name, got, c.captain_)
		}
	}
}

// TestOutdatedByAnAgent: an agent's word lowers the confidence and asks the supervisor.
func TestOutdatedByAnAgent(t *testing.T) {
	m := open(t, t.TempDir(), time.Now)
	rules, err := escalation.DefaultRules(escalation.Options{Supervisors: map[string]string{"infrastructure": "DAEDALUS"}})
	if err != nil {
		t.Fatal(err)
	}
	lessons := lesson.NewLessons(m.store, lesson.Options{Escalations: rules})
	alice, bob := as(t, "alice", principal.ScopeAgent), as(t, "bob", principal.ScopeAgent)
	draft := learningtest.Draft("Redirect loop on login page")
	draft.SourceAgent = ""
	id := value[lesson.Reported](t)(lessons.Report(alice, draft)).LessonID
	got := value[lesson.Lesson](t)(lessons.Validate(bob, id, lesson.ValidationDraft{Type: lesson.ValidationOutdated}))
	if got.Status != lesson.StatusCandidate || math.Abs(got.Confidence-0.56) > 1e-3 {
		t.Errorf("%+v", got)
	}
	last := lessonEvents(t, m.store, lesson.EventValidated)
	if len(last) != 1 || len(last[0].Escalate) != 1 || last[0].Escalate[0].To != "DAEDALUS" || last[0].Previous == nil || math.Abs(*last[0].Previous-0.8) > 1e-3 {
		t.Errorf("%+v", last)
	}
	critical := learningtest.Draft("Never drop the production database")
	critical.Type, critical.Severity, critical.SourceAgent = learning.LessonAntiPattern, learning.SeverityCritical, ""
	reported := value[lesson.Reported](t)(lessons.Report(alice, critical))
	if !slices.Equal(reported.EscalatedTo, []string{"captain", "DAEDALUS"}) {
		t.Errorf("escalated to %v", reported.EscalatedTo)
	}
	for range 30 { // a rule that blocks is not taken away by those that it blocks
		if applied := value[lesson.Applied](t)(lessons.Apply(bob, reported.LessonID, lesson.ApplicationDraft{Outcome: learning.ResultFailure})); applied.Deprecated {
			t.Fatal("deprecated by an agent")
		}
	}
	applied := lessonEvents(t, m.store, lesson.EventApplied)
	if e := applied[len(applied)-1].Escalate; len(e) != 1 || e[0].To != "DAEDALUS" {
		t.Errorf("nobody is asked: %+v", e)
	}
}

// TestOneVoiceCountsOnce holds a judgement to count once for each agent and
// kind, until decay has taken away more than it gave.
func TestOneVoiceCountsOnce(t *testing.T) {
	c := newClock()
	lessons := lesson.NewLessons(open(t, t.TempDir(), c.Now).store, lesson.Options{Options: learning.Options{Now: c.Now}})
	agent := func(name string) context.Context { return as(t, name, principal.ScopeAgent) }
	draft := learningtest.Draft("Redirect loop on login page")
	draft.SourceAgent = ""
	confidence := 0.5
	draft.Confidence = &confidence
	id := value[lesson.Reported](t)(lessons.Report(agent("alice"), draft)).LessonID
	judge := func(by string, kind lesson.ValidationType, notes string) lesson.Lesson {
		t.Helper()
		return value[lesson.Lesson](t)(lessons.Validate(agent(by), id, lesson.ValidationDraft{Type: kind, Notes: notes}))
	}
	for i, step := range []struct {
		by    string
		kind  lesson.ValidationType
		notes string
		want  float64
	}{
		{"bob", lesson.ValidationConfirmed, "", 0.55},
		{"bob", lesson.ValidationConfirmed, "", 0.55},
		{"bob", lesson.ValidationConfirmed, "once more, in other words", 0.55},
		{"carol", lesson.ValidationConfirmed, "me too", 0.605},
		{"carol", lesson.ValidationConfirmed, "", 0.605},
		{"bob", lesson.ValidationRefuted, "", 0.605 * 0.7},
		{"bob", lesson.ValidationRefuted, "", 0.605 * 0.7},
		{"bob", lesson.ValidationConfirmed, "", 0.605 * 0.7},
	} {
		got := judge(step.by, step.kind, step.notes)
		if math.Abs(got.Confidence-step.want) > 1e-6 || got.ValidatedBy != step.by || got.Validated != (step.kind == lesson.ValidationConfirmed) {
			t.Errorf("%d. %s by %s: confidence %g, want %g; %+v", i, step.kind, step.by, got.Confidence, step.want, got)
		}
	}
	if history := value[[]lesson.Change](t)(lessons.History(agent("bob"), id)); len(history) != 9 {
		t.Errorf("%d changes: each judgement is kept", len(history))
	}
	first := judge("dave", lesson.ValidationConfirmed, "").Confidence
	for range 5 {
		c.move(10*24*time.Hour + time.Second)
		before := value[lesson.Lesson](t)(lessons.Lesson(agent("dave"), id)).Confidence
		if now := judge("dave", lesson.ValidationConfirmed, "still").Confidence; now <= before || now > first+1e-9 {
			t.Errorf("ten days later %g became %g; the first gave %g", before, now, first)
		}
	}
}

// lessonEvents returns the Data of the events of a type.
func lessonEvents(t *testing.T, s *store.Store, kind string) (found []lesson.Event) {
	t.Helper()
	events, err := s.Events(t.Context(), 0, store.MaxEvents)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		if e.Type == kind {
			var data lesson.Event
			if err := json.Unmarshal(e.Data, &data); err != nil {
				t.Fatal(err)
			}
			found = append(found, data)
		}
	}
	return found
}

// twice runs each decision twice, as the committer may: the first run is undone.
type twice struct{ lesson.PipelineStore }

func (s twice) Change(ctx context.Context, decide func(tx lesson.PipelineTx) error, after func()) func() error {
	undone := errors.New("undone")
	err := s.PipelineStore.Change(ctx, func(tx lesson.PipelineTx) error {
		if err := decide(tx); err != nil {
			return err
		}
		return undone
	}, nil)()
	if !errors.Is(err, undone) {
		return func() error { return err }
	}
	return s.PipelineStore.Change(ctx, decide, after)
}

func TestDecisionsMayRunTwice(t *testing.T) {
	databasetest.FilesOnly(t)
	if testing.Short() {
		t.Skip("the same contract again: TestLessonContract runs it under the race detector")
	}
	learningtest.RunLessons(t, func(t *testing.T) lesson.Service {
		return lessonService{lesson.NewLessons(twice{open(t, t.TempDir(), time.Now).store}, lesson.Options{})}
	})
}

// TestNothingIsKeptOfWhatWasNotStored: a report whose commit fails leaves
// nothing by which a later one could be taken for it.
func TestNothingStaysOfWhatWasNotStored(t *testing.T) {
	databasetest.FilesOnly(t)
	m := open(t, t.TempDir(), time.Now)
	lessons := lesson.NewLessons(m.store, lesson.Options{})
	ctx := principal.With(t.Context(), principal.Open())
	room(t, m, 30)
	draft := learningtest.Draft("Redirect loop on login page")
	draft.Body = strings.Repeat("x ", 400_000)
	if _, err := lessons.Report(ctx, draft); errs.CodeOf(err) != errs.StorageFull {
		t.Fatal(err)
	}
	room(t, m, 100_000)
	for i := range 2 {
		if r := value[lesson.Reported](t)(lessons.Report(ctx, draft)); r.Duplicate != (i == 1) {
			t.Errorf("%d: %+v", i, r)
		}
	}
	sameLessons(t, lessons)
}

func sameLessons(t testing.TB, lessons *lesson.Lessons) {
	t.Helper()
	if check, err := lessons.Check(t.Context()); err != nil || !check.OK() {
		t.Errorf("index and database differ: %+v, %v", check, err)
	}
}

func TestLessonsAreFoundAgainAfterAStart(t *testing.T) {
	dir := t.TempDir()
	query := lesson.Query{Context: "redirects while logging in"}
	ctx := principal.With(t.Context(), principal.Open())
	draft := learningtest.Draft("Redirect loop on login page")
	draft.Action, draft.Outcome, draft.Context = "Reloaded the page", "Too many redirects", "Opening the dashboard after signing in"
	near := draft
	near.Title = "A redirect loop on the login page"
	t.Run("write", func(t *testing.T) {
		lessons := lesson.NewLessons(open(t, dir, time.Now).store, lesson.Options{})
		ctx := principal.With(t.Context(), principal.Open())
		value[lesson.Reported](t)(lessons.Report(ctx, draft))
		other := value[lesson.Reported](t)(lessons.Report(ctx, learningtest.Draft("Zombie workers exhaust semaphore")))
		value[lesson.Lesson](t)(lessons.Retire(ctx, other.LessonID, lesson.RetirementDraft{Reason: "x"}))
	})
	lessons := lesson.NewLessons(open(t, dir, time.Now).store, lesson.Options{})
	if check, err := lessons.Check(ctx); err != nil || check.OK() {
		t.Errorf("%+v, %v", check, err)
	}
	if err := lessons.Rebuild(ctx); err != nil {
		t.Fatal(err)
	}
	sameLessons(t, lessons)
	if found := value[lesson.Results](t)(lessons.Relevant(ctx, query)); found.Count != 1 || lessons.Len() != 1 {
		t.Errorf("%+v", found)
	}
	if r := value[lesson.Reported](t)(lessons.Report(ctx, near)); !r.Duplicate {
		t.Errorf("nearly the same as before the start: %+v", r)
	}
}

// TestRelevanceCountsTimeAndDomain: what occurred lately, and where it was
// asked for, comes first among what fits as well.
func TestRelevanceCountsTimeAndDomain(t *testing.T) {
	c := newClock()
	lessons := lesson.NewLessons(open(t, t.TempDir(), c.Now).store, lesson.Options{
		Options: learning.Options{Now: c.Now},
		DomainOf: func(_ context.Context, agent string) (string, error) {
			return map[string]string{"WEBBY": "web"}[agent], nil
		},
	})
	ctx := principal.With(t.Context(), principal.Open())
	report := func(id, domain string, transferability int) {
		t.Helper()
		d := lesson.Draft{
			ID: id, Type: learning.LessonFailure, Domain: domain, Category: "c", Title: "certificate renewal fails " + id,
			Context: "port 80 is closed", Transferability: transferability,
		}
		value[lesson.Reported](t)(lessons.Report(ctx, d))
	}
	order := func(q lesson.Query) string {
		t.Helper()
		q.Context = "certificate renewal fails"
		ids := []string{}
		for _, hit := range value[lesson.Results](t)(lessons.Relevant(ctx, q)).Results {
			ids = append(ids, hit.ID)
		}
		return strings.Join(ids, " ")
	}
	report("x", "web", 1)
	report("y", "mail", 3)
	report("z", "shop", 5)
	no := false
	for name, q := range map[string]struct {
		query lesson.Query
		first string
	}{
		"own domain first":       {lesson.Query{Domain: "web"}, "x z y"},
		"the agent's domain":     {lesson.Query{Agent: "WEBBY"}, "x z y"},
		"an agent nobody knows":  {lesson.Query{Agent: "STRANGER", Domain: "mail"}, "y z x"},
		"without other domains":  {lesson.Query{Domain: "mail", CrossDomain: &no}, "y"},
		"other domain's by case": {lesson.Query{Domain: "MAIL"}, "y z x"},
	} {
		if got := order(q.query); got != q.first {
			t.Errorf("%s: %s, want %s", name, got, q.first)
		}
	}
	c.move(100 * 24 * time.Hour)
	report("x", "web", 1) // again
	if got := order(lesson.Query{}); !strings.HasPrefix(got, "x") {
		t.Errorf("what occurred lately does not come first: %s", got)
	}
	hits := value[lesson.Results](t)(lessons.Relevant(ctx, lesson.Query{Context: "certificate renewal"})).Results
	for _, h := range hits {
		want := math.Exp(-1)
		if h.ID == "x" {
			want = 1
		}
		if math.Abs(h.Recency-want) > 1e-9 || math.Abs(h.Confidence-0.8*math.Exp(-1)) > 1e-9 {
			t.Errorf("%s: recency %g, confidence %g", h.ID, h.Recency, h.Confidence)
		}
	}
}

// TestIndexFollowsHistories does random things to a few lessons, and compares
// what can be found with what is in use, and the counts with a model.
func TestIndexFollowsHistories(t *testing.T) {
	m := open(t, t.TempDir(), time.Now)
	lessons := lesson.NewLessons(m.store, lesson.Options{})
	ctx := principal.With(t.Context(), principal.Open())
	round := 0
	rapid.Check(t, func(rt *rapid.T) {
		round++
		domain := fmt.Sprint("round ", round)
		type state struct {
			occurred int64
			retired  bool
		}
		model := map[string]*state{}
		titles := rapid.SampledFrom([]string{"Redirect loop", "REDIRECT  loop", "Zombie workers", "Expired certificate"})
		key := func(title string) string { return strings.ToLower(strings.Join(strings.Fields(title), " ")) }
		ids := map[string]string{}
		some := func(rt *rapid.T) string { return key(titles.Draw(rt, "title")) }
		count := func(title string, r lesson.Reported) {
			s := model[key(title)]
			if (s != nil) != r.Duplicate {
				rt.Fatalf("%q: %+v, known: %v", title, r, s != nil)
			}
			if s == nil {
				s = &state{}
				model[key(title)], ids[key(title)] = s, r.LessonID
			}
			s.occurred++
			s.retired = false
			if r.LessonID != ids[key(title)] || r.Occurrences != s.occurred {
				rt.Fatalf("%q: %+v, want %d occurrences", title, r, s.occurred)
			}
		}
		draft := func(title string) lesson.Draft {
			return lesson.Draft{Type: learning.LessonFailure, Domain: domain, Category: "c", Title: title}
		}
		rt.Repeat(map[string]func(*rapid.T){
			"report": func(rt *rapid.T) {
				title := titles.Draw(rt, "title")
				r, err := lessons.Report(ctx, draft(title))
				if err != nil {
					rt.Fatal(err)
				}
				count(title, r)
			},
			"bulk": func(rt *rapid.T) {
				var drafts []lesson.Draft
				for range rapid.IntRange(0, 4).Draw(rt, "n") {
					drafts = append(drafts, draft(titles.Draw(rt, "title")))
				}
				result, err := lessons.ReportAll(ctx, drafts)
				if err != nil || result.Processed != len(drafts) {
					rt.Fatal(result, err)
				}
				for _, o := range result.Results {
					count(drafts[o.Index].Title, o.Reported)
				}
			},
			"retire": func(rt *rapid.T) {
				title := some(rt)
				if s := model[title]; s != nil {
					if _, err := lessons.Retire(ctx, ids[title], lesson.RetirementDraft{Reason: "r"}); (err == nil) == s.retired {
						rt.Fatal(err)
					}
					s.retired = true
				}
			},
			"restore": func(rt *rapid.T) {
				title := some(rt)
				if s := model[title]; s != nil {
					if _, err := lessons.Restore(ctx, ids[title], ""); (err == nil) != s.retired {
						rt.Fatal(err)
					}
					s.retired = false
				}
			},
			"": func(rt *rapid.T) {
				no := false
				found, err := lessons.Relevant(ctx, lesson.Query{Context: "redirect loop zombie workers expired certificate", Domain: domain, CrossDomain: &no})
				if err != nil {
					rt.Fatal(err)
				}
				active := 0
				for _, s := range model {
					if !s.retired {
						active++
					}
				}
				if found.Count != active {
					rt.Fatalf("%d found, %d in use", found.Count, active)
				}
			},
		})
		check, err := lessons.Check(ctx)
		if err != nil || !check.OK() {
			rt.Fatalf("%+v, %v", check, err)
		}
	})
}

// TestReportersOnAFullDisk: what was acknowledged is stored, once, and nothing else.
func TestReportersOnAFullDisk(t *testing.T) {
	databasetest.FilesOnly(t)
	m := open(t, t.TempDir(), time.Now)
	lessons := lesson.NewLessons(m.store, lesson.Options{})
	ctx := principal.With(t.Context(), principal.Open())
	room(t, m, 200)
	var acknowledged sync.Map
	var all sync.WaitGroup
	var full atomic.Int64
	for a := range 8 {
		all.Go(func() {
			for i := range 40 {
				id := fmt.Sprint(a, "-", i)
				draft := lesson.Draft{ID: id, Type: learning.LessonFailure, Domain: "d", Category: "c", Title: "lesson " + id, Context: strings.Repeat("word ", 100*(i%9)+1)}
				switch _, err := lessons.Report(ctx, draft); errs.CodeOf(err) {
				case "":
					acknowledged.Store(id, true)
				case errs.StorageFull:
					full.Add(1)
				default:
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if full.Load() == 0 {
		t.Fatal("the disk never was full")
	}
	stored := 0
	if err := m.store.IDs(ctx, lesson.IndexKind, func(id string) {
		stored++
		if _, ok := acknowledged.LoadAndDelete(id); !ok {
			t.Errorf("%s is stored and was not acknowledged", id)
		}
	}); err != nil || stored == 0 {
		t.Errorf("%d stored, %v", stored, err)
	}
	acknowledged.Range(func(id, _ any) bool { t.Errorf("%v was acknowledged and is not stored", id); return true })
	sameLessons(t, lessons)
	var changes int64
	if err := m.db.Read.Raw("SELECT count(*) FROM lesson_changes").Scan(&changes).Error; err != nil || changes != int64(stored) {
		t.Errorf("%d changes of %d lessons, %v", changes, stored, err)
	}
}
