package learning_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"skillrouter/internal/committer"
	"skillrouter/internal/errs"
	"skillrouter/internal/principal"
	"skillrouter/learning"
	"skillrouter/learning/feedback"
	"skillrouter/learning/knowledge"
	"skillrouter/learning/learningtest"
	"skillrouter/learning/lesson"
)

// gapWorld is a memory that notes its misses, on a clock that moves by hand.
type gapWorld struct {
	gaps      *feedback.Gaps
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
	w.gaps = feedback.NewGaps(m.store, feedback.GapSources{Knowledge: w.knowledge, Lessons: w.lessons}, feedback.GapsOptions{Options: options, Changed: m.store.EventBell()})
	w.knowledge.ReportMisses(w.gaps)
	w.lessons.ReportMisses(w.gaps)
	return w
}

func (w gapWorld) settle(t *testing.T) {
	t.Helper()
	w.clock.advance(3 * time.Second)
	if err := w.gaps.Flush(t.Context()); err != nil {
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

func (w gapWorld) open(t *testing.T) []feedback.Gap {
	t.Helper()
	page, err := w.gaps.List(asker(t, "reader"), feedback.GapQuery{Limit: learning.MaxLimit})
	if err != nil {
		t.Fatal(err)
	}
	return page.Gaps
}

func TestGapContract(t *testing.T) {
	learningtest.Gaps(t, func(t *testing.T) learningtest.GapWorld {
		w := openGaps(t)
		return learningtest.GapWorld{Gaps: w.gaps, Knowledge: w.knowledge, Lessons: w.lessons, Settle: func() { w.settle(t) }}
	})
}

func TestGapsOfATypedQuestion(t *testing.T) {
	w := openGaps(t)
	ctx := asker(t, "a")
	for end := 3; end <= len("gateway rotation"); end++ {
		w.ask(t, ctx, "gateway rotation"[:end])
		w.clock.advance(150 * time.Millisecond)
	}
	for end := len("gateway rotation") - 1; end > 8; end-- { // and takes letters away
		w.ask(t, ctx, "gateway rotation"[:end])
	}
	w.ask(t, asker(t, "b"), "gateway") // another means it
	w.settle(t)
	found := w.open(t)
	if len(found) != 2 {
		t.Fatalf("found %+v", found)
	}
	for _, gap := range found {
		if want := map[string]string{"gateway rotation": "a", "gateway": "b"}[gap.Question]; gap.Count != 1 || len(gap.Agents) != 1 || gap.Agents[0] != want {
			t.Errorf("%+v", gap)
		}
	}
}

func TestGapsAreBounded(t *testing.T) {
	w := openGaps(t)
	ctx := asker(t, "loop")
	for i := range 200 {
		w.gaps.Missed(ctx, learning.Miss{Question: fmt.Sprintf("unheard w%dx", i), In: learning.GapInKnowledge})
	}
	w.gaps.Missed(asker(t, "other"), learning.Miss{Question: "what others ask", In: learning.GapInKnowledge})
	w.settle(t)
	if n := len(w.open(t)); n != 61 {
		t.Errorf("%d gaps of a loop and another", n)
	}
	var many []feedback.GapMisses
	for i := range 150 {
		at := w.clock.now().Add(time.Duration(i) * time.Second)
		many = append(many, feedback.GapMisses{
			ID: fmt.Sprintf("%032d", i), Question: "q", AskedIn: []learning.GapPlace{learning.GapInQuery}, Count: 1, First: at, Last: at,
		})
	}
	if err := w.memory.store.AddMisses(t.Context(), many, 100); err != nil {
		t.Fatal(err)
	}
	left := w.open(t)
	if len(left) != 100 || left[0].ID != many[149].ID || left[99].ID != many[50].ID {
		t.Errorf("%d are kept, from %s to %s", len(left), left[0].ID, left[len(left)-1].ID)
	}
}

func TestGapsWithoutAnAsker(t *testing.T) {
	w := openGaps(t)
	ctx := asker(t, "a")
	w.ask(t, learning.NotAsked(ctx), "nobody asked this")
	if _, err := w.knowledge.Find(ctx, knowledge.Query{Query: "nor this other"}); err != nil {
		t.Fatal(err)
	}
	w.gaps.Missed(ctx, learning.Miss{Question: "asked for somebody else", AgentID: "captain", In: learning.GapInLessons})
	w.gaps.Missed(ctx, learning.Miss{Question: strings.Repeat("?", 50), In: learning.GapInLessons})
	w.settle(t)
	found := w.open(t)
	if len(found) != 1 || len(found[0].Agents) != 1 || found[0].Agents[0] != "a" {
		t.Errorf("found %+v: nobody is believed who says that another asked", found)
	}
	for _, call := range []func() error{
		func() error { _, err := w.gaps.List(t.Context(), feedback.GapQuery{}); return err },
		func() error { _, err := w.gaps.Check(t.Context(), found[0].ID); return err },
		func() error { _, err := w.gaps.Dismiss(t.Context(), found[0].ID, ""); return err },
	} {
		if err := call(); errs.CodeOf(err) != errs.Forbidden {
			t.Errorf("nobody may: %v", err)
		}
	}
}

// oneSource answers a question once something was stored.
type oneSource struct{ has bool }

func (s *oneSource) Find(context.Context, knowledge.Query) (knowledge.Results, error) {
	if !s.has {
		return knowledge.Results{NoMatch: true}, nil
	}
	return knowledge.Results{Results: []knowledge.Hit{{Knowledge: knowledge.Knowledge{ID: "k"}}}, Count: 1}, nil
}

// gapMemory is a feedback.GapStore in memory, of one gap.
type gapMemory struct {
	feedback.GapStore
	gap     feedback.Gap
	checked time.Time
	wrote   int
}

func (m *gapMemory) AddMisses(_ context.Context, misses []feedback.GapMisses, _ int) error {
	m.gap = feedback.Gap{ID: misses[0].ID, Status: feedback.GapOpen, LastAsked: misses[0].Last}
	m.gap.Add(misses[0])
	m.checked, m.wrote = misses[0].Last, m.wrote+1
	return nil
}

func (m *gapMemory) OpenGaps(_ context.Context, since time.Time, _ int) ([]feedback.Gap, error) {
	if m.gap.Status != feedback.GapOpen || m.checked.After(since) {
		return nil, nil
	}
	return []feedback.Gap{m.gap}, nil
}

func (m *gapMemory) ChangeGap(_ context.Context, _ string, decide func(*feedback.Gap) error) (feedback.Gap, error) {
	err := decide(&m.gap)
	return m.gap, err
}

func (m *gapMemory) MarkChecked(_ context.Context, _ []string, at time.Time) error {
	m.checked = at
	return nil
}

// TestGapsCloseByThemselves runs the background work in virtual time.
func TestGapsCloseByThemselves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, source, bell := new(gapMemory), new(oneSource), new(committer.Bell)
		gaps := feedback.NewGaps(store, feedback.GapSources{Knowledge: source}, feedback.GapsOptions{Changed: bell})
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- gaps.Run(ctx) }()
		gaps.Missed(asker(t, "a"), learning.Miss{Question: "how to zork", In: learning.GapInKnowledge})
		pass := func(d time.Duration) {
			<-time.After(d)
			synctest.Wait()
		}
		pass(4 * time.Second)
		if store.wrote != 1 || store.gap.Question != "how to zork" {
			t.Fatalf("written %d times: %+v", store.wrote, store.gap)
		}
		source.has = true
		pass(30 * time.Second)
		if store.gap.Status != feedback.GapOpen {
			t.Error("it was asked again though nothing was stored")
		}
		bell.Ring()
		pass(6 * time.Second)
		if store.gap.Status != feedback.GapAnswered || store.gap.AnsweredBy != "knowledge/k" {
			t.Errorf("not closed: %+v", store.gap)
		}
		gaps.Missed(asker(t, "a"), learning.Miss{Question: "asked at the end", In: learning.GapInKnowledge})
		stop()
		if err := <-ended; err != nil || store.wrote != 2 {
			t.Errorf("%v, written %d times", err, store.wrote)
		}
	})
}

// BenchmarkMissed is what a miss adds to a search.
func BenchmarkMissed(b *testing.B) {
	gaps := feedback.NewGaps(new(gapMemory), feedback.GapSources{}, feedback.GapsOptions{})
	ctx := principal.With(b.Context(), principal.Principal{AgentID: "a", Scopes: []principal.Scope{principal.ScopeAgent}})
	b.ReportAllocs()
	for b.Loop() {
		gaps.Missed(ctx, learning.Miss{Question: "how do I rotate the certificates of the gateway in staging", In: learning.GapInKnowledge})
	}
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
