package experience

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

// near tells whether two figures agree to what an independent computation in
// double precision gives.
func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

// The figures of these tables were computed with another program (python3's
// math), from the formulas as CONTRACT.md writes them.
func TestUtilityFigures(t *testing.T) {
	q := func(x float64) *float64 { return &x }
	for _, test := range []struct {
		name string
		got  float64
		want float64
	}{
		{"success", effectiveness(learning.ResultSuccess, nil), 1},
		{"partial", effectiveness(learning.ResultPartial, nil), 0.5},
		{"failure", effectiveness(learning.ResultFailure, nil), 0},
		{"success of quality 0", effectiveness(learning.ResultSuccess, q(0)), 0.6},
		{"success of quality 0.85", effectiveness(learning.ResultSuccess, q(0.85)), 0.94},
		{"partial of quality 0.5", effectiveness(learning.ResultPartial, q(0.5)), 0.5},
		{"failure of quality 1", effectiveness(learning.ResultFailure, q(1)), 0.4},

		{"first of its type", novelty(0, 0), 1},
		{"unlike any", novelty(0, 50), 1},
		{"one of two the same", novelty(1, 2), 0.5},
		{"seven of fifty the same", novelty(7, 50), 0.86},
		{"all the same", novelty(50, 50), 0.1},
		{"nearly all the same", novelty(46, 50), 0.1},

		{"nothing known", generalizability(0, 0, 0), 0.5},
		{"one dependency", generalizability(1, 0, 0), 0.4},
		{"many dependencies", generalizability(9, 0, 0), 0.2},
		{"one trigger", generalizability(0, 1, 0), 0.55},
		{"many triggers", generalizability(0, 9, 0), 0.7},
		{"ninth of its type", generalizability(0, 0, 9), 0.7302585092994046},
		{"thousandth of its type", generalizability(0, 0, 1000), 0.8},
		{"all at once", generalizability(2, 3, 4), 0.61094379124341},
		{"most", generalizability(0, 4, 1_000_000), 1},

		{"utility of all", utility(1, 1, 1), 1},
		{"utility of a first success", utility(1, 1, 0.5), 0.9},
		{"utility of an old failure", utility(0.1, 0, 0.7302585092994046), 0.17605170185988092},

		{"three fresh successes", discrimination(1, 3, 0), 1.3862943611198906},
		{"three of four, five days old", discrimination(0.75, 4, 5*lesson.Day), 1.1482085244107398},
		{"one of three fails the bar after 45 days", discrimination(1.0/3, 3, 45*lesson.Day), 0.294646770361521},
		{"no success", discrimination(0, 100, 0), 0},
		{"from the future", discrimination(1, 3, -time.Hour), 1.3862943611198906},

		{"pattern of weight 0.3", patternConfidence(0.3), 0.7},
		{"pattern of weight 1.4", patternConfidence(1.4), 0.8},

		{"learned from three successes", learnedConfidence(1, 3, 0.9), 0.9},
		{"learned from three failures", learnedConfidence(0, 3, 0.4), 0.6186294361119891},
		{"learned from one success in three", learnedConfidence(1.0/3, 3, 0.25), 0.6886294361119891},
		{"learned from a hundred failures of no use", learnedConfidence(0, 100, 0), 0.7},
	} {
		t.Run(test.name, func(t *testing.T) {
			if !near(test.got, test.want) {
				t.Errorf("got %.16g, want %.16g", test.got, test.want)
			}
		})
	}
}

func TestPatternKinds(t *testing.T) {
	for rate, want := range map[float64]lesson.PatternType{
		0: lesson.PatternFailure, 0.39: lesson.PatternFailure, 0.4: lesson.PatternCorrelation, 0.5: lesson.PatternCorrelation, 0.6: lesson.PatternCorrelation, 0.61: lesson.PatternSuccess, 1: lesson.PatternSuccess,
	} {
		if got := patternKind(rate); got != want {
			t.Errorf("rate %v makes %s, want %s", rate, got, want)
		}
	}
}

// TestScoreProperties holds the scores to their bounds and directions for any input.
func TestScoreProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		outcome := rapid.SampledFrom(learning.Results()).Draw(t, "outcome")
		q := rapid.Float64Range(0, 1).Draw(t, "quality")
		seen := rapid.IntRange(0, NoveltyWindow).Draw(t, "seen")
		same := rapid.IntRange(0, seen).Draw(t, "same")
		d, tr := rapid.IntRange(0, 100).Draw(t, "dependencies"), rapid.IntRange(0, 100).Draw(t, "triggers")
		n := rapid.Int64Range(0, math.MaxInt64).Draw(t, "episodes")

		n1, e, g := novelty(same, seen), effectiveness(outcome, &q), generalizability(d, tr, n)
		for name, x := range map[string]float64{"novelty": n1, "effectiveness": e, "generalizability": g, "utility": utility(n1, e, g)} {
			if math.IsNaN(x) || x < 0 || x > 1 {
				t.Fatalf("%s is %v", name, x)
			}
		}
		if same < seen && novelty(same+1, seen) > n1 {
			t.Fatal("another repetition is newer")
		}
		if generalizability(d+1, tr, n) > g || generalizability(d, tr+1, n) < g {
			t.Fatal("a dependency generalises, or a trigger does not")
		}
		rate := rapid.Float64Range(0, 1).Draw(t, "rate")
		age := time.Duration(rapid.Int64().Draw(t, "age"))
		w := discrimination(rate, n, age)
		if math.IsNaN(w) || w < 0 || discrimination(rate, n, max(age, 0)/2) < w-1e-12 {
			t.Fatalf("weight %v at %v grows with age", w, age)
		}
		if c := learnedConfidence(rate, int(n%1000), q); c < minLearned || c > maxLearned {
			t.Fatalf("learned confidence is %v", c)
		}
	})
}
