package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"skillrouter/learning"
	"skillrouter/learning/lesson"
	"skillrouter/learning/shelf"
	"skillrouter/tfidf"
)

// laneNames are the lanes of a score in words that need no knowledge of the engine. A lane that is not known here is called by its own name.
var laneNames = map[string]string{
	tfidf.LaneWord:      "words",
	tfidf.LaneCompound:  "identifiers and compounds",
	tfidf.LaneTypo:      "corrected words",
	tfidf.LaneRelated:   "related words",
	tfidf.LaneNear:      "words near one another",
	tfidf.LaneTime:      "tells when",
	tfidf.LaneLetters:   "letters in common",
	tfidf.LaneNeighbour: "written next to a good hit",
	tfidf.LaneAlike:     "like the best hits",
	shelf.LaneVector:    "meaning (vectors)",
	lesson.LaneRecency:  "how lately",
}

// shownTerms is how many terms of a lane are named: a pasted error has dozens.
const shownTerms = 6

// lanePart is what one lane gave to a score.
type lanePart struct {
	name   string
	weight float64
	terms  []learning.Reason // those that name one
}

// explained prints what a score is made of: its lanes, the weightiest first,
// with the share of each, what its terms gave, and the sum of all parts as they came.
func explained(w io.Writer, score float64, why []learning.Reason) {
	if len(why) == 0 {
		return
	}
	parts, sum := lanes(why)
	width := 0
	for _, p := range parts {
		width = max(width, len([]rune(p.name)))
	}
	for _, p := range parts {
		line := fmt.Sprintf("    %+.3f %4s  %-*s", p.weight, percent(p.weight, score), width, clean(p.name))
		fmt.Fprintln(w, strings.TrimRight(line+"  "+terms(p.terms), " "))
	}
	said := "exactly the score"
	if sum != score { // a router of another version
		said = fmt.Sprintf("the score is %v", score)
	}
	fmt.Fprintf(w, "    %+.3f 100%%  sum, %s\n", sum, said)
}

func percent(part, whole float64) string {
	if whole <= 0 {
		return ""
	}
	share := 100 * part / whole
	if share > 0 && share < 0.5 {
		return "<1%"
	}
	return fmt.Sprintf("%.0f%%", share)
}

// lanes gathers reasons by lane, and adds them up in their own order.
func lanes(why []learning.Reason) (parts []lanePart, sum float64) {
	for _, r := range why {
		sum += r.Weight
		name := cmp.Or(laneNames[r.Lane], r.Lane)
		i := slices.IndexFunc(parts, func(p lanePart) bool { return p.name == name })
		if i < 0 {
			i = len(parts)
			parts = append(parts, lanePart{name: name})
		}
		parts[i].weight += r.Weight
		if r.Term != "" {
			parts[i].terms = append(parts[i].terms, r)
		}
	}
	slices.SortStableFunc(parts, func(a, b lanePart) int { return cmp.Compare(b.weight, a.weight) })
	return parts, sum
}

// terms names what fitted, the weightiest first.
func terms(list []learning.Reason) string {
	slices.SortStableFunc(list, func(a, b learning.Reason) int { return cmp.Compare(b.Weight, a.Weight) })
	var named []string
	for _, r := range list[:min(len(list), shownTerms)] {
		if len(list) == 1 {
			named = append(named, clean(r.Term))
			continue
		}
		named = append(named, fmt.Sprintf("%s %.3f", clean(r.Term), r.Weight))
	}
	if more := len(list) - shownTerms; more > 0 {
		named = append(named, fmt.Sprintf("%d more", more))
	}
	return strings.Join(named, ", ")
}
