package mcpserver

import (
	"fmt"
	"maps"
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

// listing begins an answer with things of one kind, shortened to what an answer
// may hold, and notes in told that agents wrote them. If there are none it says that.
func listing[T any](list []T, told *string, of func(*T) entry, none, format string, args ...any) *fence {
	if len(list) == 0 {
		return newFence("%s", none)
	}
	*told = notice
	f := newFence(format, args...)
	addEntries(f, list, of)
	return f
}

// alone is an answer with one thing, shortened to what an answer may hold.
func alone[T any](thing *T, of func(*T) entry, format string, args ...any) string {
	f, list := newFence(format, args...), []T{*thing}
	addEntries(f, list, of)
	*thing = list[0]
	return f.String()
}

// saying is what a thing says that a search found; of others nothing, and none is folded.
func saying(thing any) (s learning.Saying) {
	if one, found := thing.(interface{ Says() learning.Saying }); found {
		s = one.Says()
	}
	return s
}

// addEntries shortens the things to what an answer may hold and appends them. What says nearly what a higher one says is named beneath that one.
func addEntries[T any](f *fence, list []T, of func(*T) entry) {
	f.explain()
	entries, texts := make([]entry, len(list)), make([][]*string, len(list))
	for i := range list {
		entries[i] = of(&list[i])
		texts[i] = entries[i].texts
	}
	folds, place := learning.FoldAlike(len(list), func(i int) learning.Saying { return saying(&list[i]) }), 0 // by the texts as they were
	for i, cut := range fitTexts(texts) {
		label, lines := entries[i].said(cut) // which notes what was cut, for programs too
		if place < len(folds) && folds[place].At == i {
			f.add(strings.TrimSpace(fmt.Sprintf("%d. %s", place+1, label)), append(lines, folds[place].Like())...)
			place++
		}
	}
}

// hidden is the type of a field that leaves one of the same JSON name, of an
// embedded type, out of an answer.
type hidden *struct{}

// hits are what a search found, with what a model should know of the searching.
type hits[T any] struct {
	Results   []T               `json:"results"`
	LeftOut   int               `json:"left_out,omitempty"` // found too, and over what the service answers at once
	Corrected map[string]string `json:"corrected,omitempty"`
	Degraded  string            `json:"degraded,omitempty"` // that it was searched by words alone, though vectors are configured
	Notice    string            `json:"notice,omitempty"`
}

// said puts them before a model.
func (h *hits[T]) said(of func(*T) entry, none, order, one, many string) string {
	how := corrections(h.Corrected) + degraded(h.Degraded)
	return listing(h.Results, &h.Notice, of, none+how, "Found %s, %s.%s%s", count(len(h.Results), one, many), order, leftOut(h.LeftOut), how).String()
}

// views are what a model needs of each of the things.
func views[T, V any](list []T, view func(T) V) []V {
	all := make([]V, len(list))
	for i, one := range list {
		all[i] = view(one)
	}
	return all
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
