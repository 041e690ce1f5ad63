package lesson_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

var believedAt = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func days(n float64) time.Time { return believedAt.Add(time.Duration(n * 24 * float64(time.Hour))) }

// beliefs draws any belief that can be stored.
func beliefs() *rapid.Generator[lesson.Belief] {
	return rapid.Custom(func(rt *rapid.T) lesson.Belief {
		return lesson.Belief{
			InitialConfidence: rapid.Float64Range(0, 1).Draw(rt, "confidence"), DecayConstant: rapid.Float64Range(0, 1).Draw(rt, "decay"), ConfidenceAt: believedAt,
		}
	})
}

// times draws a moment of any clock: right, set back, or far ahead.
func times() *rapid.Generator[time.Time] {
	return rapid.Custom(func(rt *rapid.T) time.Time {
		return believedAt.AddDate(rapid.IntRange(-3000, 7000).Draw(rt, "years"), 0, rapid.IntRange(-400, 400).Draw(rt, "days"))
	})
}

// TestFiguresOfTheContract compares with figures that were computed apart, from
// CONTRACT.md's formulas.
func TestFiguresOfTheContract(t *testing.T) {
	belief := func(c float64) lesson.Belief {
		return lesson.Belief{InitialConfidence: c, DecayConstant: lesson.DecayConstant, ConfidenceAt: believedAt}
	}
	for _, c := range []struct {
		name string
		got  float64
		want float64
	}{
		{"no day", belief(0.8).At(days(0)), 0.8},
		{"30 days of decay", belief(0.8).At(days(30)), 0.592654576545},
		{"a year of decay", belief(0.8).At(days(365)), 0.020792903023},
		{"half a day of decay", belief(0.9).At(days(0.5)), 0.895511231273},
		{"a first success", after(belief(0.8), learning.ResultSuccess, 1, 1, 0), 0.827725887222},
		{"a first failure", after(belief(0.8), learning.ResultFailure, 1, 0, 0), 0.689096451111},
		{"a first partial", after(belief(0.8), learning.ResultPartial, 1, 0, 0), 0.709890866527},
		{"the 10th, 7 successes, after 30 days", after(belief(0.8), learning.ResultSuccess, 10, 7, 30), 0.687297308147},
		{"the 100th, all successes", after(belief(0.9), learning.ResultSuccess, 100, 100, 0), 0.95},
		{"the 100th, all failures", after(belief(0.2), learning.ResultFailure, 100, 0, 0), 0.1},
		{"confirmed", belief(0.8).Judged(lesson.ValidationConfirmed, days(0)).InitialConfidence, 0.88},
		{"confirmed up to 0.95", belief(0.9).Judged(lesson.ValidationConfirmed, days(0)).InitialConfidence, 0.95},
		{"confirmed after 300 days, when 0.0398 is left", belief(0.8).Judged(lesson.ValidationConfirmed, days(300)).InitialConfidence, 0.88},
		{"refuted", belief(0.8).Judged(lesson.ValidationRefuted, days(0)).InitialConfidence, 0.56},
		{"refuted down to 0.1", belief(0.11).Judged(lesson.ValidationRefuted, days(0)).InitialConfidence, 0.1},
		{"outdated", belief(0.5).Judged(lesson.ValidationOutdated, days(0)).InitialConfidence, 0.35},
		{"partial, after 30 days", belief(0.8).Judged(lesson.ValidationPartial, days(30)).InitialConfidence, 0.592654576545},
	} {
		if math.Abs(c.got-c.want) > 1e-9 {
			t.Errorf("%s: %.12f, want %.12f", c.name, c.got, c.want)
		}
	}
}

func after(b lesson.Belief, outcome learning.Result, applied, succeeded int64, day float64) float64 {
	next, _ := b.Applied(outcome, applied, float64(succeeded)/float64(applied), days(day))
	return next.InitialConfidence
}

func TestDecayIsBoundedAndNeverRises(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		b, t1, t2 := beliefs().Draw(rt, "belief"), times().Draw(rt, "t1"), times().Draw(rt, "t2")
		if t2.Before(t1) {
			t1, t2 = t2, t1
		}
		early, late := b.At(t1), b.At(t2)
		if !(late >= 0 && late <= early && early <= b.InitialConfidence) {
			rt.Errorf("%g, then %g", early, late)
		}
		if !t1.After(believedAt) && early != b.InitialConfidence {
			rt.Errorf("a clock that was set back gives %g", early)
		}
	})
}

func TestEvidenceMovesConfidenceItsOwnWay(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		b, at := beliefs().Draw(rt, "belief"), times().Draw(rt, "at")
		applied := rapid.Int64Range(1, 1_000_000).Draw(rt, "applied")
		rate := rapid.Float64Range(0, 1).Draw(rt, "rate")
		good, _ := b.Applied(learning.ResultSuccess, applied, rate, at)
		half, _ := b.Applied(learning.ResultPartial, applied, rate, at)
		bad, _ := b.Applied(learning.ResultFailure, applied, rate, at)
		if !(bad.InitialConfidence <= half.InitialConfidence && half.InitialConfidence <= good.InitialConfidence) {
			rt.Errorf("failure %g, partial %g, success %g", bad.InitialConfidence, half.InitialConfidence, good.InitialConfidence)
		}
		if more, _ := b.Applied(learning.ResultPartial, applied, (1+rate)/2, at); more.InitialConfidence < half.InitialConfidence {
			rt.Errorf("a greater share of successes lowers %g to %g", half.InitialConfidence, more.InitialConfidence)
		}
		left := b.At(at)
		up, down, same := b.Judged(lesson.ValidationConfirmed, at), b.Judged(lesson.ValidationRefuted, at), b.Judged(lesson.ValidationPartial, at)
		if up.InitialConfidence < left || down.InitialConfidence > left || same.InitialConfidence != left {
			rt.Errorf("of %g: confirmed %g, refuted %g, partial %g", left, up.InitialConfidence, down.InitialConfidence, same.InitialConfidence)
		}
		for _, next := range []lesson.Belief{good, half, bad, up, down, same} {
			if c := next.InitialConfidence; !(c >= 0 && c <= 1) || next.DecayConstant != b.DecayConstant || next.ConfidenceAt.Before(b.ConfidenceAt) {
				rt.Errorf("%+v became %+v", b, next)
			}
		}
	})
}

// TestOrderOfOutcomes: what counts is how many there were. The last outcomes
// weigh a little more in the confidence, which is then as the formula says; the
// counts and the rate are the same in any order.
func TestOrderOfOutcomes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		outcomes := rapid.SliceOfN(rapid.SampledFrom(learning.Results()), 1, 12).Draw(rt, "outcomes")
		shuffled := rapid.Permutation(outcomes).Draw(rt, "shuffled")
		run := func(outcomes []learning.Result) (succeeded int64, confidence float64) {
			b := lesson.Belief{InitialConfidence: 0.8, DecayConstant: lesson.DecayConstant, ConfidenceAt: believedAt}
			for i, outcome := range outcomes {
				evidence := map[learning.Result]float64{learning.ResultSuccess: 1, learning.ResultPartial: 0.5}[outcome]
				rate := (float64(succeeded) + evidence) / float64(i+1)
				if outcome != learning.ResultFailure {
					succeeded++ // of what is stored, half a success is a whole one
				}
				b, _ = b.Applied(outcome, int64(i+1), rate, believedAt)
			}
			return succeeded, b.InitialConfidence
		}
		s1, c1 := run(outcomes)
		s2, c2 := run(shuffled)
		if s1 != s2 || c1 < 0.1 || c2 < 0.1 || c1 > 0.95 || c2 > 0.95 {
			rt.Errorf("%v: %d, %g; %v: %d, %g", outcomes, s1, c1, shuffled, s2, c2)
		}
		best, worst := slices.Clone(outcomes), []learning.Result{}
		for i := range best {
			best[i] = learning.ResultSuccess
			worst = append(worst, learning.ResultFailure)
		}
		_, top := run(best)
		_, bottom := run(worst)
		if c1 > top+1e-12 || c1 < bottom-1e-12 {
			rt.Errorf("%v: %g does not lie between %g and %g", outcomes, c1, bottom, top)
		}
	})
}

// TestDeprecationIsReached: whatever a lesson was held for, failures alone
// deprecate it, and never before lesson.DeprecationApplications; successes never do.
func TestDeprecationIsReached(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		b := beliefs().Draw(rt, "belief")
		reached := 0
		for i := int64(1); i <= 60 && reached == 0; i++ {
			var deprecate bool
			if b, deprecate = b.Applied(learning.ResultFailure, i, 0, believedAt); deprecate {
				reached = int(i)
			}
		}
		if reached < lesson.DeprecationApplications {
			rt.Errorf("reached after %d", reached)
		}
		b = beliefs().Draw(rt, "another")
		for i := int64(1); i <= 60; i++ {
			var deprecate bool
			if b, deprecate = b.Applied(learning.ResultSuccess, i, 1, believedAt); deprecate {
				rt.Errorf("success %d deprecates", i)
			}
		}
	})
}

// TestClockThatJumps: evidence that a clock set back brings does not make the
// decay longer that resumes when the clock is right again.
func TestClockThatJumps(t *testing.T) {
	b := lesson.Belief{InitialConfidence: 0.8, DecayConstant: lesson.DecayConstant, ConfidenceAt: days(100)}
	back := b.Judged(lesson.ValidationPartial, days(-1000))
	if got := back.At(days(100)); got != 0.8 {
		t.Errorf("%g is left", got)
	}
	for _, years := range []int{100, 7000} {
		if left := b.At(believedAt.AddDate(years, 0, 0)); left < 0 || left > 1e-9 {
			t.Errorf("%g is left after %d years", left, years)
		}
	}
}
