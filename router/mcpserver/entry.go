package mcpserver

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"skillrouter/internal/safetext"
	"skillrouter/learning"
)

// entry is how one of the things that an answer shows is put before a model.
type entry struct {
	// texts are what may be shortened of it, what matters most first.
	texts []*string
	// said is called when the texts are shortened, by cut bytes together. The label is
	// the router's own words; all that an agent chose, names and ids too, is a line.
	said func(cut int) (label string, lines []string)
}

// saying is what a thing says that a search found; of others nothing, and none is folded.
func (t *thing) saying() (s learning.Saying) {
	if one, found := t.value.Addr().Interface().(interface{ Says() learning.Saying }); found {
		s = one.Says()
	}
	return s
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

// fitThings shortens the things, and what else there is, to what an answer may hold together. It returns the things in their
// order; those that say nearly what a higher one says are beneath that one.
func fitThings(list []*thing, rest ...*thing) []learning.Folded {
	folds := learning.FoldAlike(len(list), func(i int) learning.Saying { return list[i].saying() }) // by the texts as they were
	list = slices.Concat(list, rest)
	texts := make([][]*string, len(list))
	for i, t := range list {
		texts[i] = t.entry.texts
	}
	for i, left := range fitTexts(texts) {
		list[i].left = left
	}
	return folds
}

// thing appends one thing.
func (f *fence) thing(name string, of any) *thing {
	t := shapeOf(reflect.TypeOf(of)).thing(reflect.ValueOf(of))
	t.alone = name
	f.things([]*thing{t}, fitThings([]*thing{t}))
	return t
}

// things appends things to an answer.
func (f *fence) things(list []*thing, folds []learning.Folded) {
	for place, one := range folds {
		f.explain()
		t := list[one.At]
		label, lines := t.entry.said(t.left)
		switch {
		case t.alone == "":
			label = strings.TrimSpace(fmt.Sprintf("%d. %s", place+1, label))
		case t.view.entry == nil:
			label = strings.TrimSuffix("The "+inWords(t.alone)+": "+label, ": ")
		}
		f.add(label, append(lines, one.Like())...)
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

// redacted says which kinds of secret were cut out of what a call stored.
func redacted(kinds []string) string {
	if len(kinds) == 0 {
		return ""
	}
	return " Secrets were cut out of it before it was stored: " + strings.Join(kinds, ", ") + "."
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

// each points to the texts of a list.
func each(list []string) []*string {
	texts := make([]*string, len(list))
	for i := range list {
		texts[i] = &list[i]
	}
	return texts
}
