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

// How much a search that prefers a project moves scores. Both are choices: what one works on goes before
// what fits a quarter better elsewhere, and what was said here before what was only imported.
const (
	ownProject = 1.25
	importLoss = 0.8
)

// Prefer is by how much a score is multiplied of what belongs to a project and is trusted so far,
// where someone searches who works in the project preferred, with a reason for each
// change in terms of a score of 1. What belongs to another project is marked by a reason that changes nothing.
// Nothing is preferred without a project.
func Prefer(preferred, project string, trust Trust) (factor float64, why []Reason) {
	factor = 1
	if preferred == "" {
		return factor, nil
	}
	switch project {
	case preferred:
		factor *= ownProject
		why = append(why, Reason{Lane: "project", Term: project, Weight: ownProject - 1})
	case "":
	default:
		why = append(why, Reason{Lane: "other project", Term: project})
	}
	if trust == TrustImported {
		why = append(why, Reason{Lane: "trust", Term: string(trust), Weight: factor * (importLoss - 1)})
		factor *= importLoss
	}
	return factor, why
}

// SuccessorsFirst orders a list so that nothing stands above what it ranks behind: that takes its place, and it comes
// next. raise gives the one whatever the list was ordered by, which the other had more of.
func SuccessorsFirst[T any](list []T, id func(*T) string, behind func(*T) string, raise func(next, old *T)) {
	for range list { // a line of them ends after as many turns
		moved := false
		for i := 0; i < len(list); i++ {
			first := behind(&list[i])
			j := slices.IndexFunc(list, func(t T) bool { return first != "" && id(&t) == first })
			if j <= i {
				continue
			}
			next := list[j]
			raise(&next, &list[i])
			copy(list[i+1:j+1], list[i:j])
			list[i], moved = next, true
		}
		if !moved {
			return
		}
	}
}
