package learning_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/episode"
	"github.com/skillrouter/skillrouter/learning/experience"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

func TestSweep(t *testing.T) {
	clock := &moved{at: begin}
	m := open(t, t.TempDir(), clock.now)
	x := experiencesOn(m, clock, experience.Options{KeepEpisodes: 90 * oneDay, KeepPatterns: 180 * oneDay})
	ctx := captainly(t)
	if _, err := m.episodes.Record(ctx, episode.Draft{EventType: episode.EventAction, Title: "another's episode", Content: "c"}); err != nil {
		t.Fatal(err)
	}
	useful := experienced(t, x, "build", learning.ResultSuccess).EpisodeID // utility 0.9
	for range 3 {
		experienced(t, x, "build", learning.ResultSuccess) // utility 0.64: the same problem again
	}
	if got := patternsOf(t, x, "build")[lesson.PatternSuccess]; len(got.EpisodeIDs) != 4 {
		t.Fatalf("the pattern is %+v", got)
	}
	number := patternsOf(t, x, "build")[lesson.PatternSuccess].Number
	for _, step := range []struct {
		name                        string
		passes                      time.Duration
		fades                       int
		want                        experience.Swept
		episodes, indexed, evidence int64
	}{
		{"to the day", 90 * oneDay, 1, experience.Swept{}, 4, 5, 4},
		{"a moment later", time.Second, 0, experience.Swept{Episodes: 3}, 1, 2, 4}, // it names what it was found in, as the experience server does
		{"the useful one stays", 80 * oneDay, 0, experience.Swept{}, 1, 2, 4},
		{"up to twice as long, and the pattern with it", 10 * oneDay, 0, experience.Swept{Episodes: 1, Patterns: 1}, 0, 1, 0},
		{"nothing is left to do", 500 * oneDay, 0, experience.Swept{}, 0, 1, 0},
	} {
		clock.move(step.passes)
		swept, err := x.Sweep(ctx)
		if fades := faded(t, m, clock); err != nil || swept != step.want || fades != step.fades {
			t.Fatalf("%s: %+v, %d fade, %v; want %+v", step.name, swept, fades, err, step.want)
		}
		stats, err := x.Stats(ctx)
		if err != nil || stats.Episodes != step.episodes || int64(m.episodes.Len()) != step.indexed {
			t.Errorf("%s: counted %+v, %d indexed, %v", step.name, stats, m.episodes.Len(), err)
		}
		if check, err := m.episodes.Check(ctx); err != nil || !check.OK() {
			t.Errorf("%s: the index is %+v, %v", step.name, check, err)
		}
		p, err := x.Pattern(ctx, number)
		if step.evidence > 0 && (err != nil || int64(len(p.EpisodeIDs)) != step.evidence) || step.evidence == 0 && errs.CodeOf(err) != errs.NotFound {
			t.Errorf("%s: the pattern is %+v, %v", step.name, p, err)
		}
	}
	if _, err := x.Experience(ctx, useful); errs.CodeOf(err) != errs.NotFound {
		t.Errorf("what was forgotten: %v", err)
	}
	// The figures begin anew, as for the first of its type.
	if r := experienced(t, x, "build", learning.ResultSuccess); r.Utility != 0.9 {
		t.Errorf("the next has a utility of %v", r.Utility)
	}
	events, err := m.store.Events(ctx, 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	told := map[string]int{}
	for _, e := range events {
		told[e.Type]++
	}
	if told[episode.EventExperiencesSwept] != 2 || told[experience.EventPatternSwept] != 1 || told[lesson.EventPatternDeprecated] != 1 {
		t.Errorf("the log tells %v", told)
	}
}

// TestSweepKeepsForEver is the negative control: without a retention everything stays.
func TestSweepKeepsForEver(t *testing.T) {
	clock := &moved{at: begin}
	m := open(t, t.TempDir(), clock.now)
	x := experiencesOn(m, clock, experience.Options{})
	for range 3 {
		experienced(t, x, "build", learning.ResultSuccess)
	}
	clock.move(10_000 * oneDay)
	swept, err := x.Sweep(captainly(t))
	if fades := faded(t, m, clock); err != nil || swept != (experience.Swept{}) || fades != 1 {
		t.Errorf("swept %+v, %d fade, %v", swept, fades, err)
	}
	if stats, err := x.Stats(captainly(t)); err != nil || stats.Episodes != 3 {
		t.Errorf("counted %+v, %v", stats, err)
	}
}

// TestSweepOfMany sweeps more than one transaction takes, within a window that is
// shorter than the retention's.
func TestSweepOfMany(t *testing.T) {
	clock := &moved{at: begin}
	m := open(t, t.TempDir(), clock.now)
	x := experiencesOn(m, clock, experience.Options{KeepEpisodes: time.Hour})
	for range 450 {
		experienced(t, x, "build", learning.ResultFailure)
	}
	clock.move(3 * time.Hour)
	late := []learning.Result{learning.ResultSuccess, learning.ResultFailure}
	for _, outcome := range late {
		experienced(t, x, "build", outcome)
	}
	if swept, err := x.Sweep(captainly(t)); err != nil || swept.Episodes != 450 {
		t.Fatalf("swept %+v, %v", swept, err)
	}
	// What was swept counts in the window no more: two of three make a success.
	experienced(t, x, "build", learning.ResultSuccess)
	if got := patternsOf(t, x, "build"); got[lesson.PatternSuccess].Weight == 0 {
		t.Errorf("patterns %+v", got)
	}
}

// TestSweepRuns sees Run sweep by itself, and end.
func TestSweepRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := open(t, t.TempDir(), time.Now)
		x := experience.NewExperiences(m.store, m.episodes, nil, experience.Options{KeepEpisodes: oneDay})
		if _, err := x.Record(captainly(t), experience.Draft{OperationType: "a", Outcome: learning.ResultFailure}); err != nil {
			t.Fatal(err)
		}
		go func() { _ = x.Run(t.Context()) }()
		<-time.After(3 * oneDay)
		synctest.Wait()
		if stats, err := x.Stats(captainly(t)); err != nil || stats.Episodes != 0 {
			t.Errorf("counted %+v, %v", stats, err)
		}
	})
}

// TestConfirmedPatternEmergesAnew: a pattern that a person confirmed and that has lapsed is seen again when its operation is.
func TestConfirmedPatternEmergesAnew(t *testing.T) {
	clock := &moved{at: begin}
	m := open(t, t.TempDir(), clock.now)
	x := experiencesOn(m, clock, experience.Options{})
	patterns := lesson.NewPatterns(m.store, lesson.PatternOptions{Options: learning.Options{Now: clock.now}})
	for range 3 {
		experienced(t, x, "build", learning.ResultSuccess)
	}
	if _, err := patterns.Confirm(captainly(t), patternsOf(t, x, "build")[lesson.PatternSuccess].PatternID, lesson.ConfirmationDraft{By: "ann"}); err != nil {
		t.Fatal(err)
	}
	clock.move(31 * oneDay)
	if fades := faded(t, m, clock); fades != 1 {
		t.Fatalf("%d fade", fades)
	}
	for range 3 {
		experienced(t, x, "build", learning.ResultSuccess)
	}
	if p := patternsOf(t, x, "build")[lesson.PatternSuccess]; p.Status != lesson.PatternEmerging {
		t.Errorf("seen again it is %+v", p)
	}
}
