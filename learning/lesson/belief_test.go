package lesson_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

// TestOverriddenBelief holds the Bayesian step to its promises: within bounds,
// never against what was seen, and, away from the bounds, whatever the order.
func TestOverriddenBelief(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	rapid.Check(t, func(rt *rapid.T) {
		start := rapid.Float64Range(0, 1).Draw(rt, "confidence")
		b := lesson.Belief{InitialConfidence: start, DecayConstant: lesson.DecayConstant, ConfidenceAt: at}
		clock := at
		for range rapid.IntRange(0, 12).Draw(rt, "outcomes") {
			clock = clock.Add(time.Duration(rapid.IntRange(-3600, 86400).Draw(rt, "seconds")) * time.Second)
			result := rapid.SampledFrom(learning.Results()).Draw(rt, "result")
			left := b.At(clock)
			next := b.Overridden(result, clock)
			now := next.At(clock)
			switch {
			case math.IsNaN(now) || now < 0 || now > 1:
				rt.Fatalf("%g after %s of %g", now, result, left)
			case result == learning.ResultSuccess && now > left+1e-9, result == learning.ResultFailure && now < left-1e-9, result == learning.ResultPartial && math.Abs(now-left) > 1e-9:
				rt.Fatalf("%s moved %g to %g", result, left, now)
			}
			b = next
		}
	})
	mid := lesson.Belief{InitialConfidence: 0.5, ConfidenceAt: at}
	there := mid.Overridden(learning.ResultSuccess, at).Overridden(learning.ResultFailure, at)
	back := mid.Overridden(learning.ResultFailure, at).Overridden(learning.ResultSuccess, at)
	if math.Abs(there.InitialConfidence-back.InitialConfidence) > 1e-9 || math.Abs(there.InitialConfidence-0.5) > 1e-9 {
		t.Errorf("%g and %g", there.InitialConfidence, back.InitialConfidence)
	}
}

func TestPrecision(t *testing.T) {
	for name, c := range map[string]struct {
		standing lesson.GuardStanding
		want     float64
	}{
		"nothing yet":        {lesson.GuardStanding{}, 0.8},
		"unsettled":          {lesson.GuardStanding{Overridden: 9}, 0.8},
		"heeded":             {lesson.GuardStanding{Heeded: 5}, 0.9},
		"wrong five times":   {lesson.GuardStanding{OverriddenSuccess: 5}, 0.4},
		"right when ignored": {lesson.GuardStanding{OverriddenFailure: 5}, 0.9},
		"partly":             {lesson.GuardStanding{OverriddenPartial: 5}, 0.65},
	} {
		if got := c.standing.Precision(); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %g, not %g", name, got, c.want)
		}
	}
}
