package mcpserver

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/skillrouter/skillrouter/internal/safetext"
	"github.com/skillrouter/skillrouter/learning"
)

// entry is how one of the things that a search found is put before a model, in words of its own.
type entry struct {
	texts  []*string       // what may be shortened of it, what matters most first
	saying learning.Saying // what it says, to be compared with what others say
	left   int             // how many bytes of it were left out
	// said is called when the texts are shortened. The label is the router's own words; all that an agent chose, names and ids too, is a line.
	said func() (label string, lines []string)
}

// searched is what a search found, in the words that its text begins with.
func searched(found int, noun, none, order string, more int, corrected map[string]string, notice string) string {
	how := corrections(corrected) + degraded(notice)
	if found == 0 {
		return none + how
	}
	many := noun + "s"
	if stem, ok := strings.CutSuffix(noun, "y"); ok {
		many = stem + "ies"
	}
	return fmt.Sprintf("Found %s, %s.%s%s", count(found, noun, many), order, leftOut(more), how)
}

// entriesOf are the entries of a list, which is made the answer's own: its texts are shortened in it.
func entriesOf[T any](list *[]T, one func(*T) entry) (all []entry) {
	*list = owned(*list)
	for i := range *list {
		all = append(all, one(&(*list)[i]))
	}
	return all
}

// fitEntries shortens the entries to what an answer may hold together. It returns them in their order; those that say nearly
// what a higher one says are beneath that one.
func fitEntries(list []entry) []learning.Folded {
	folds := learning.FoldAlike(len(list), func(i int) learning.Saying { return list[i].saying }) // by the texts as they were
	texts := make([][]*string, len(list))
	for i := range list {
		texts[i] = list[i].texts
	}
	for i, left := range fitTexts(texts) {
		list[i].left = left
	}
	return folds
}

// entries appends entries to an answer.
func (f *fence) entries(list []entry, folds []learning.Folded) {
	f.explain()
	for place, one := range folds {
		label, lines := list[one.At].said()
		f.add(fmt.Sprintf("%d. %s", place+1, label), append(lines, cutNote(list[one.At].left), one.Like())...)
	}
}

// owned is a list that may be changed: a service may keep its own.
func owned[T any](list []T) []T { return append([]T{}, list...) }

// count says how many, in words that fit the number.
func count(n int, one, many string) string { return safetext.Counted(n, one, many) }

// author names who wrote something: an agent's id holds no character that
// could pass for anything else.
func author(agentID string) string {
	if agentID == "" {
		return "unknown"
	}
	return "agent " + visible(agentID)
}

// attributes writes the pairs that have a value on one line.
func attributes(pairs ...string) string {
	var parts []string
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			parts = append(parts, pairs[i]+"="+strings.ReplaceAll(pairs[i+1], "\n", " "))
		}
	}
	return strings.Join(parts, "; ")
}

// part is a text under its name, or nothing.
func part(name, text string) string {
	if text == "" {
		return ""
	}
	return name + ": " + text
}

// leftOut says how many results were too much for one answer.
func leftOut(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" %d more were too long to add: ask for fewer, or more closely.", n)
}

// degraded says what a search could not do.
func degraded(notice string) string {
	if notice == "" {
		return ""
	}
	return " The " + notice + "."
}

// corrections says which words of a query nobody wrote, and what was searched
// instead. The words are the caller's own and the index's.
func corrections(corrected map[string]string) string {
	if len(corrected) == 0 {
		return ""
	}
	var pairs []string
	for _, from := range slices.Sorted(maps.Keys(corrected)) {
		pairs = append(pairs, fmt.Sprintf("%q for %q", corrected[from], from))
	}
	return " Searched " + strings.Join(pairs, ", ") + ", which no entry has."
}

// whyNote tells what a score is made of. Its terms are words of agents' texts: it belongs into a fence.
func whyNote(why []learning.Reason) string {
	parts := make([]string, len(why))
	for i, r := range why {
		parts[i] = strings.TrimSuffix(fmt.Sprintf("%.3f %s %s", r.Weight, r.Lane, r.Term), " ")
	}
	return part("Why", strings.Join(parts, ", "))
}

// cutNote says, in the text for a model, that a content was cut.
func cutNote(left int) string {
	if left == 0 {
		return ""
	}
	return fmt.Sprintf("[cut: %d more bytes; ask for fewer results to see more]", left)
}
