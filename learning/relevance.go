package learning

import (
	"slices"

	"github.com/skillrouter/skillrouter/internal/check"
)

// What people are shown of what a search found (docs/benchmarks.md).
const (
	// ShownRelevance is how relevant the best must be, that people are shown anything and that it counts as an answer.
	ShownRelevance = 0.1
	// ShownBeside is from which relevance on people are shown the rest.
	ShownBeside = 0.03
)

// Relevant leaves out of hits what is less relevant than least; with shown, what people are not shown too.
func Relevant[Hit any](hits []Hit, least float64, shown bool, relevance func(Hit) float64) []Hit {
	if shown {
		if !slices.ContainsFunc(hits, func(h Hit) bool { return relevance(h) >= ShownRelevance }) {
			return hits[:0]
		}
		least = max(least, ShownBeside)
	}
	return slices.DeleteFunc(hits, func(h Hit) bool { return relevance(h) < least })
}

// CheckRelevance refuses what is no relevance.
func CheckRelevance(least float64) error { return check.Range("min_relevance", least, 0, 1) }
