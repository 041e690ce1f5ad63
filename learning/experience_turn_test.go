package learning_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/experience"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

// TestWhatAlwaysFails: an operation that never succeeds has no pattern for the experience server's clients, whose weight of it is 0. The model
// has one, until it succeeds again.
func TestWhatAlwaysFails(t *testing.T) {
	clock := &moved{at: begin}
	m := open(t, t.TempDir(), clock.now)
	x := experiencesOn(m, clock, experience.Options{})
	ctx := captainly(t)
	patterns := lesson.NewPatterns(m.store, lesson.PatternOptions{Options: learning.Options{Now: clock.now}})
	model := func() []lesson.Pattern {
		t.Helper()
		list, err := patterns.List(ctx, lesson.PatternFilter{})
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	for range 20 {
		experienced(t, x, "restore", learning.ResultFailure)
	}
	if list, err := x.Patterns(ctx, lesson.PatternFilter{}); err != nil || list.Total != 0 {
		t.Errorf("the experience server's clients see %+v, %v", list, err)
	}
	if stats, err := x.Stats(ctx); err != nil || stats.Patterns != 0 {
		t.Errorf("and count %+v, %v", stats, err)
	}
	found := model()
	if len(found) != 1 || found[0].Type != lesson.PatternRecurringFailure || found[0].Frequency != 20 || found[0].OperationType != "restore" {
		t.Fatalf("the model has %+v", found)
	}
	for range 20 {
		experienced(t, x, "restore", learning.ResultSuccess)
	}
	for _, p := range model() {
		if p.Type == lesson.PatternRecurringFailure {
			t.Errorf("it goes on failing: %+v", p)
		}
	}
}

// TestPatternTurns lets an operation type go from success to failure: it keeps
// one pattern, which the experience server's clients see as it was made and everybody else
// as it is now (O3).
func TestPatternTurns(t *testing.T) {
	clock := &moved{at: begin}
	m := open(t, t.TempDir(), clock.now)
	x := experiencesOn(m, clock, experience.Options{})
	ctx := captainly(t)
	do := func(n int, outcome learning.Result) {
		for range n {
			experienced(t, x, "deploy", outcome)
		}
	}
	only := func() experience.Pattern {
		t.Helper()
		list, err := x.Patterns(ctx, lesson.PatternFilter{Statuses: lesson.PatternStatuses()})
		if err != nil || list.Total != 1 || list.Count != 1 {
			t.Fatalf("there are %+v, %v", list, err)
		}
		return list.Patterns[0]
	}
	do(4, learning.ResultSuccess)
	first := only()
	patterns := lesson.NewPatterns(m.store, lesson.PatternOptions{Options: learning.Options{Now: clock.now}})
	if _, err := patterns.Confirm(ctx, first.PatternID, lesson.ConfirmationDraft{By: "ann"}); err != nil {
		t.Fatal(err)
	}

	do(1, learning.ResultFailure) // 4 of 5: as before
	if p := only(); p.Status != lesson.PatternConfirmed || p.KindNow != lesson.PatternSuccess {
		t.Errorf("of the same kind it is %+v", p)
	}
	do(7, learning.ResultFailure) // 4 of 12
	p := only()
	if p.Number != first.Number || p.Type != lesson.PatternSuccess || p.Description != "deploy: 100% success rate over 3 episodes" || p.Frequency != 12 || len(p.EpisodeIDs) != 12 || p.EpisodeIDs[0] != 12 {
		t.Errorf("as it was made it is %+v", p)
	}
	if p.KindNow != lesson.PatternFailure || p.DescriptionNow != "deploy usually fails" {
		t.Errorf("now it is %+v", p)
	}
	model, err := patterns.Pattern(ctx, p.PatternID)
	if err != nil || model.Type != lesson.PatternFailure || model.ConfirmedBy != "" || model.Status != lesson.PatternConfirmed {
		t.Errorf("ann's word of success holds for failure too: %+v, %v", model, err)
	}

	// Who deprecates it is not asked again when its kind turns.
	if _, err := patterns.Deprecate(ctx, p.PatternID, lesson.ConfirmationDraft{By: "ann"}); err != nil {
		t.Fatal(err)
	}
	do(30, learning.ResultSuccess)
	if p := only(); p.Status != lesson.PatternDeprecated || p.KindNow != lesson.PatternSuccess || p.Frequency != 42 {
		t.Errorf("deprecated it is %+v", p)
	}
	events, err := m.store.Events(ctx, 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	for _, e := range events {
		if kind, ours := strings.CutPrefix(e.Type, "pattern."); ours && kind != "seen" {
			told = append(told, kind)
		}
	}
	// At 6 of 10 it was a correlation, at 4 of 11 a failure: each emerges anew, and ten episodes confirm it.
	if got := strings.Join(told, " "); !strings.HasPrefix(got, "emerged confirmed emerged") || !strings.HasSuffix(got, "emerged confirmed deprecated") {
		t.Errorf("the log tells %q", got)
	}
}

// TestGapInAPattern records episodes without the weight for a pattern between
// some that have it: those are its evidence too once it has the weight again.
func TestGapInAPattern(t *testing.T) {
	clock := &moved{at: begin}
	m := open(t, t.TempDir(), clock.now)
	x := experiencesOn(m, clock, experience.Options{})
	for _, step := range []struct {
		outcome learning.Result
		n       int
	}{{learning.ResultSuccess, 1}, {learning.ResultFailure, 8}, {learning.ResultSuccess, 3}} {
		for range step.n {
			experienced(t, x, "search", step.outcome)
		}
	}
	recall, err := x.Recall(captainly(t), experience.Filter{OperationType: "search"})
	if err != nil || len(recall.Patterns) != 1 || recall.Patterns[0].Frequency != 12 || len(recall.Patterns[0].EpisodeIDs) != 12 {
		t.Fatalf("%+v, %v", recall.Patterns, err)
	}
	patterns := lesson.NewPatterns(m.store, lesson.PatternOptions{Options: learning.Options{Now: clock.now}})
	if p, err := patterns.Pattern(captainly(t), recall.Patterns[0].PatternID); err != nil || p.Frequency != 12 || len(p.EpisodeIDs) != 12 {
		t.Errorf("its evidence is %+v, %v", p, err)
	}
}

// TestApplicationsAtOnce applies one lesson from many sides: its figures and its pattern's stay exact.
func TestApplicationsAtOnce(t *testing.T) {
	clock := &moved{at: begin}
	m := open(t, t.TempDir(), clock.now)
	options := learning.Options{Now: clock.now}
	x := experience.NewExperiences(m.store, m.episodes, lesson.NewLessons(m.store, lesson.Options{Options: options}), experience.Options{Options: options})
	ctx := captainly(t)
	var numbers []int64
	for range 3 {
		numbers = append(numbers, experienced(t, x, "build", learning.ResultSuccess).EpisodeID)
	}
	learned, err := x.Learn(ctx, experience.LearnDraft{Description: "what it gives", EpisodeIDs: numbers, Statement: "Build twice"})
	if err != nil {
		t.Fatal(err)
	}
	const sides = 6
	var all sync.WaitGroup
	for range sides {
		all.Go(func() {
			for _, outcome := range learning.Results() {
				if _, err := x.Apply(ctx, learned.LessonNumber, lesson.ApplicationDraft{Outcome: outcome}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	lesson, err := x.Lesson(ctx, learned.LessonNumber)
	if err != nil || lesson.TimesApplied != 3*sides || lesson.TimesSucceeded != 2*sides { // a success, and a partial one that is stored as one
		t.Errorf("the lesson is %+v, %v", lesson, err)
	}
	pattern, err := x.Pattern(ctx, *learned.PatternID)
	if err != nil || pattern.TimesApplied != 3*sides || pattern.TimesSucceeded != sides {
		t.Errorf("its pattern is %+v, %v", pattern, err)
	}
}
