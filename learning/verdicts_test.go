package learning_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skillrouter/skillrouter/internal/committer"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/knowledge"
	"github.com/skillrouter/skillrouter/learning/learningtest"
	"github.com/skillrouter/skillrouter/learning/lesson"
	"github.com/skillrouter/skillrouter/learning/verdict"
)

// gapWorld is a memory that notes its misses, on a clock that moves by hand.
type gapWorld struct {
	verdicts  *verdict.Verdicts
	knowledge *knowledge.Base
	lessons   *lesson.Lessons
	memory    memory
	clock     *handClock
}

func openGaps(t *testing.T) gapWorld {
	clock := newHandClock()
	m := open(t, t.TempDir(), clock.now)
	options := learning.Options{Now: clock.now}
	w := gapWorld{knowledge: knowledge.NewBase(m.store, options), lessons: lesson.NewLessons(m.store, lesson.Options{Options: options}), memory: m, clock: clock}
	var err error
	w.verdicts, err = verdict.New(t.Context(), m.store, verdict.Options{Options: options, Used: w.knowledge.Used, Finders: []verdict.Finder{
		func(ctx context.Context, question, project string) (bool, error) {
			found, err := w.knowledge.Find(ctx, knowledge.Query{Query: question, Project: project, Limit: 1})
			return len(found.Results) > 0 && !found.NoMatch, err
		},
		func(ctx context.Context, question, project string) (bool, error) {
			found, err := w.lessons.Relevant(ctx, lesson.Query{Context: question, Project: project, Limit: 1})
			return len(found.Results) > 0 && !found.NoMatch, err
		},
	}})
	if err != nil {
		t.Fatal(err)
	}
	w.knowledge.LearnFrom(w.verdicts)
	w.knowledge.ReportMisses(w.verdicts)
	w.lessons.ReportMisses(w.verdicts)
	return w
}

func (w gapWorld) settle(t *testing.T) {
	t.Helper()
	w.clock.advance(3 * time.Second)
	if err := w.verdicts.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := w.verdicts.Ask(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func asker(t *testing.T, agent string) context.Context {
	return principal.With(t.Context(), principal.Principal{AgentID: agent, Scopes: []principal.Scope{principal.ScopeAgent}})
}

func (w gapWorld) ask(t *testing.T, ctx context.Context, question string) {
	t.Helper()
	if _, err := w.knowledge.Search(ctx, knowledge.Query{Query: question}); err != nil {
		t.Fatal(err)
	}
}

func (w gapWorld) open(t *testing.T) []verdict.Gap {
	t.Helper()
	page, err := w.verdicts.Gaps(asker(t, "reader"), verdict.GapQuery{Limit: learning.MaxLimit})
	if err != nil {
		t.Fatal(err)
	}
	return page.Gaps
}

func TestVerdictContract(t *testing.T) {
	learningtest.RunVerdicts(t, func(t *testing.T) (context.Context, learningtest.VerdictWorld) {
		w := openGaps(t)
		ctx := principal.With(t.Context(), principal.Open())
		return ctx, learningtest.VerdictWorld{Verdicts: w.verdicts, Knowledge: w.knowledge, Lessons: w.lessons, Settle: func() { w.settle(t) }}
	})
}

// TestAnsweredOutlivesTheProcessAndFades proves that what was learned is there after a
// restart, and counts for less as time goes by.
func TestAnsweredOutlivesTheProcessAndFades(t *testing.T) {
	ctx := principal.With(t.Context(), principal.Open())
	s := open(t, t.TempDir(), time.Now).store
	base := knowledge.NewBase(s, learning.Options{})
	first, err := verdict.New(ctx, s, verdict.Options{})
	if err != nil {
		t.Fatal(err)
	}
	stored, err := base.Store(ctx, knowledge.Draft{Category: "c", Title: "Rotate certificates", Content: "certbot renew"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := first.Answered(ctx, stored.ID, verdict.Draft{Query: "red padlock"}); err != nil {
		t.Fatal(err)
	}
	var scores []float64
	for _, later := range []time.Duration{0, 180 * 24 * time.Hour, 360 * 24 * time.Hour} {
		next := knowledge.NewBase(s, learning.Options{})
		answered, err := verdict.New(ctx, s, verdict.Options{Options: learning.Options{Now: func() time.Time { return time.Now().Add(later) }}})
		if err != nil {
			t.Fatal(err)
		}
		next.LearnFrom(answered)
		found, err := next.Search(ctx, knowledge.Query{Query: "red padlock"})
		if err != nil || found.Count != 1 {
			t.Fatalf("after a restart: %+v, %v", found, err)
		}
		scores = append(scores, found.Results[0].RelevanceScore)
	}
	if scores[0] < 0.49 || scores[0] > 0.5 || scores[1] >= scores[0] || scores[2] >= scores[1] {
		t.Errorf("as time goes by: %v", scores)
	}
}

// TestGapsAreBounded lets one agent ask more than it may: what others asked stays, and so does what was answered.
func TestGapsAreBounded(t *testing.T) {
	w := openGaps(t)
	stored, err := w.knowledge.Store(asker(t, "loop"), knowledge.Draft{Category: "c", Title: "Rotate certificates", Content: "certbot renew"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.verdicts.Answered(asker(t, "loop"), stored.ID, verdict.Draft{Query: "red padlock"}); err != nil {
		t.Fatal(err)
	}
	w.verdicts.Missed(asker(t, "other"), learning.Miss{Question: "what others ask"})
	w.settle(t)
	for i := range verdict.MaxOfAgent + 100 {
		w.verdicts.Missed(asker(t, "loop"), learning.Miss{Question: fmt.Sprintf("unheard w%dx", i)})
	}
	w.settle(t)
	page, err := w.verdicts.Gaps(asker(t, "reader"), verdict.GapQuery{})
	if err != nil || page.Total != verdict.MaxOfAgent+1 {
		t.Errorf("%d gaps of a loop and another, %v", page.Total, err)
	}
	if list, err := w.verdicts.Questions(asker(t, "reader"), stored.ID); err != nil || list.Count != 1 {
		t.Errorf("%+v, %v: its own voice must stay", list, err)
	}
}

// TestGapsCountEveryAsker has several agents ask the same: it is one gap with all of them, and one dismissal ends it.
func TestGapsCountEveryAsker(t *testing.T) {
	w := openGaps(t)
	for _, agent := range []string{"a", "b", "a"} {
		w.ask(t, asker(t, agent), "unheard question")
		w.settle(t)
	}
	found := w.open(t)
	if len(found) != 1 || found[0].Count != 3 || strings.Join(found[0].Agents, " ") != "a b" || !found[0].FirstAsked.Before(found[0].LastAsked) {
		t.Fatalf("%+v", found)
	}
	if err := w.verdicts.Dismiss(asker(t, "c"), found[0].ID); err != nil || len(w.open(t)) != 0 {
		t.Errorf("%v, %+v", err, w.open(t))
	}
}

// TestGapsKeepTheirOrder: what is missed within a second is written at once, in the order in which it was asked.
func TestGapsKeepTheirOrder(t *testing.T) {
	w := openGaps(t)
	var asked []string
	for i := range 20 {
		asked = append([]string{fmt.Sprintf("unheard%d question", i)}, asked...)
		w.clock.advance(time.Millisecond)
		w.ask(t, asker(t, "a"), asked[0])
	}
	w.settle(t)
	var listed []string
	for _, gap := range w.open(t) {
		listed = append(listed, gap.Question)
	}
	if !slices.Equal(listed, asked) {
		t.Errorf("the last asked first: %q", listed)
	}
}

func TestGapsWithoutAnAsker(t *testing.T) {
	w := openGaps(t)
	ctx := asker(t, "a")
	w.ask(t, learning.NotAsked(ctx), "nobody asked this")
	if _, err := w.knowledge.Find(ctx, knowledge.Query{Query: "nor this other"}); err != nil {
		t.Fatal(err)
	}
	w.verdicts.Missed(ctx, learning.Miss{Question: "asked for somebody else", AgentID: "captain"})
	w.verdicts.Missed(ctx, learning.Miss{Question: strings.Repeat("?", 50)})
	w.settle(t)
	found := w.open(t)
	if len(found) != 1 || len(found[0].Agents) != 1 || found[0].Agents[0] != "a" {
		t.Errorf("found %+v: nobody is believed who says that another asked", found)
	}
	for _, call := range []func() error{
		func() error { _, err := w.verdicts.Gaps(t.Context(), verdict.GapQuery{}); return err },
		func() error { return w.verdicts.Dismiss(t.Context(), found[0].ID) },
	} {
		if err := call(); errs.CodeOf(err) != errs.Forbidden {
			t.Errorf("nobody may: %v", err)
		}
	}
}

// missMemory is a verdict.Store in memory, of misses alone.
type missMemory struct {
	verdict.Store
	misses []verdict.Verdict
	wrote  int
}

func (m *missMemory) Verdicts(context.Context, []string) ([]verdict.Verdict, error) { return nil, nil }

func (m *missMemory) Misses(context.Context) ([]verdict.Verdict, error) { return m.misses, nil }

func (m *missMemory) AddMisses(_ context.Context, misses []verdict.Verdict) error {
	m.misses, m.wrote = append(m.misses, misses...), m.wrote+1
	return nil
}

func (m *missMemory) DeleteMisses(context.Context, string) error {
	m.misses = nil
	return nil
}

// TestGapsBehindAWall: whether a question stays open tells whoever is bound to a project nothing of what others know.
func TestGapsBehindAWall(t *testing.T) {
	w := openGaps(t)
	bound := principal.With(t.Context(), principal.Principal{AgentID: "b", Scopes: []principal.Scope{principal.ScopeAgent}}.Bind([]string{"shop"}))
	store := func(project string) {
		t.Helper()
		draft := lesson.Draft{Type: learning.LessonSuccess, Domain: "magic", Category: "magic", Title: "Zorkmid frobnication in the " + project, Context: "the wand", Action: "waved", Outcome: "it worked", Project: project}
		if _, err := w.lessons.Report(asker(t, "a"), draft); err != nil {
			t.Fatal(err)
		}
	}
	for _, ctx := range []context.Context{bound, asker(t, "a")} {
		if _, err := w.knowledge.Search(ctx, knowledge.Query{Query: "zorkmid frobnication", Project: "shop"}); err != nil {
			t.Fatal(err)
		}
	}
	w.settle(t)
	if open := w.open(t); len(open) != 2 {
		t.Fatalf("two asked, and open are %+v", open)
	}
	store("web")
	w.settle(t)
	if open := w.open(t); len(open) != 1 || !slices.Equal(open[0].Agents, []string{"b"}) {
		t.Errorf("another project knows it, and open are %+v", open)
	}
	store("shop")
	w.settle(t)
	if open := w.open(t); len(open) != 0 {
		t.Errorf("the project knows it, and open are %+v", open)
	}
}

// TestGapsCloseByThemselves runs the background work in virtual time.
func TestGapsCloseByThemselves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, bell, known, asked := new(missMemory), new(committer.Bell), false, 0
		verdicts, err := verdict.New(t.Context(), store, verdict.Options{Changed: bell, Finders: []verdict.Finder{
			func(context.Context, string, string) (bool, error) { asked++; return known, nil },
		}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- verdicts.Run(ctx) }()
		verdicts.Missed(asker(t, "a"), learning.Miss{Question: "how to zork"})
		pass := func(d time.Duration) {
			<-time.After(d)
			synctest.Wait()
		}
		pass(7 * time.Second)
		if store.wrote != 1 || len(store.misses) != 1 || asked != 1 {
			t.Fatalf("written %d times, asked again %d times: %+v", store.wrote, asked, store.misses)
		}
		known = true
		pass(30 * time.Second)
		if asked != 1 {
			t.Error("it was asked again though nothing was stored")
		}
		bell.Ring()
		pass(6 * time.Second)
		if len(store.misses) != 0 {
			t.Errorf("not closed: %+v", store.misses)
		}
		verdicts.Missed(asker(t, "a"), learning.Miss{Question: "asked at the end"})
		stop()
		if err := <-ended; err != nil || store.wrote != 2 {
			t.Errorf("%v, written %d times", err, store.wrote)
		}
	})
}

// TestWhatTheSubjectFoundIsNoGap asks in words that no entry has, of a subject that one names: a person
// is shown it, and so nothing is missing. Whoever is shown nothing books a gap.
func TestWhatTheSubjectFoundIsNoGap(t *testing.T) {
	w := openGaps(t)
	ctx := asker(t, "a")
	if _, err := w.knowledge.Store(ctx, knowledge.Draft{Title: "Use pnpm not npm", Content: "The lockfile is pnpm's.", Category: "convention", Project: "shop"}); err != nil {
		t.Fatal(err)
	}
	ask := func(query knowledge.Query) knowledge.Results {
		t.Helper()
		results, err := w.knowledge.Search(ctx, query)
		if err != nil {
			t.Fatal(err)
		}
		w.settle(t)
		return results
	}
	question := "which package manager do we have"
	found := ask(knowledge.Query{Query: question, Shown: true})
	if len(found.Results) != 1 || found.NoMatch || found.Results[0].Relevance > 0.5 || !strings.Contains(found.Notice, "packages") {
		t.Errorf("found %+v", found)
	}
	if gaps := w.open(t); len(gaps) != 0 {
		t.Errorf("gaps of what was answered: %+v", gaps)
	}
	for _, query := range []knowledge.Query{
		{Query: question, Shown: true, MinRelevance: 0.9}, {Query: question, Shown: true, Project: "blog"},
	} {
		if found := ask(query); len(found.Results) != 0 {
			t.Errorf("%+v found %+v", query, found)
		}
	}
	if found := ask(knowledge.Query{Query: question}); len(found.Results) != 1 { // a program's question, which is no person's
		t.Errorf("a program finds %+v", found)
	}
	if gaps := w.open(t); len(gaps) != 2 { // one a project
		t.Errorf("gaps %+v, want those of whom nothing was shown", gaps)
	}
}
