package shelf

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/skillrouter/skillrouter/tfidf"
)

// drawnParts draws the reasons of a score and the score, which is their sum times a
// factor, rounded in another order than they add up.
func drawnParts(rt *rapid.T) (score float64, why []tfidf.Reason) {
	factor := rapid.Float64Range(1e-6, 1e3).Draw(rt, "factor")
	for _, w := range rapid.SliceOfN(rapid.Float64Range(1e-9, 2), 1, 40).Draw(rt, "weights") {
		score += w
		why = append(why, tfidf.Reason{Lane: tfidf.LaneWord, Weight: w * factor})
	}
	return score * factor, why
}

func TestExactSum(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		score, why := drawnParts(rt)
		before := make([]float64, len(why))
		for i := range why {
			before[i] = why[i].Weight
		}
		Exact(score, why)
		if sum := added(why); sum != score {
			rt.Fatalf("%v adds up to %v", score, sum)
		}
		for i, r := range why {
			if math.Abs(r.Weight-before[i]) > 1e-12*score {
				rt.Fatalf("part %d was %v and is %v of %v", i, before[i], r.Weight, score)
			}
		}
	})
}

// TestFusedSum holds the parts of a fused score to it, and the order to not depend on being explained.
func TestFusedSum(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		var words []tfidf.Hit
		for i := range rapid.IntRange(0, 70).Draw(rt, "words") {
			_, why := drawnParts(rt)
			words = append(words, tfidf.Hit{ID: fmt.Sprintf("d%d", i), Score: added(why), Why: why})
		}
		var found []neighbour
		for i := range rapid.IntRange(0, 70).Draw(rt, "vectors") {
			found = append(found, neighbour{id: fmt.Sprintf("d%d", (i*7)%90), cosine: 1 - float64(i)/100})
		}
		bare := make([]tfidf.Hit, len(words))
		for i, w := range words {
			bare[i] = tfidf.Hit{ID: w.ID, Score: w.Score}
		}
		unexplained := fused(bare, found, 0.25, 20, false)
		for i, hit := range fused(words, found, 0.25, 20, true) {
			if hit.ID != unexplained[i].ID || hit.Score != unexplained[i].Score {
				rt.Fatalf("explained, place %d has %s of %v; else %s of %v", i, hit.ID, hit.Score, unexplained[i].ID, unexplained[i].Score)
			}
			if sum := added(hit.Why); sum != hit.Score {
				rt.Fatalf("%s: the parts are %v together and the score is %v", hit.ID, sum, hit.Score)
			}
		}
	})
}
