package lesson

import (
	"slices"
	"strings"

	"skillrouter/internal/errs"
	"skillrouter/internal/principal"
)

// maxAncestors bounds how many lessons are looked at to see that a lesson is
// not its own ancestor: a principle draws on some patterns, each on some cases.
const maxAncestors = 1024

// resolveSources returns the ids of the lessons that a lesson was drawn from.
// It is an Invalid error, naming source_case_ids, if one of them is not there,
// or if the lesson of that id would be its own ancestor.
func resolveSources(tx PipelineTx, by principal.Principal, id string, refs []string) ([]string, error) {
	ids := make([]string, 0, len(refs))
	var next []string
	for _, ref := range refs {
		source, found, err := tx.LessonOf(ref)
		switch {
		case err != nil:
			return nil, err
		case found && !by.Sees(source.Project):
			return nil, noSource(ref)
		case ref == id || found && source.ID == id:
			return nil, ownAncestor()
		case !found:
			return nil, noSource(ref)
		}
		if !slices.Contains(ids, source.ID) {
			ids = append(ids, source.ID)
			next = append(next, source.SourceCaseIDs...)
		}
	}
	seen := map[string]bool{}
	for len(next) > 0 {
		ref := next[len(next)-1]
		next = next[:len(next)-1]
		if seen[ref] {
			continue
		}
		if ref == id {
			return nil, ownAncestor()
		}
		if seen[ref] = true; len(seen) > maxAncestors {
			return nil, errs.InvalidField("source_case_ids", "draw on more than %d lessons", maxAncestors)
		}
		ancestor, _, err := tx.LessonOf(ref)
		if err != nil {
			return nil, err
		}
		next = append(next, ancestor.SourceCaseIDs...)
	}
	return ids, nil
}

func noSource(ref string) error {
	return errs.InvalidField("source_case_ids", "names %q, which no lesson is called", ref)
}

func ownAncestor() error {
	return errs.InvalidField("source_case_ids", "would make the lesson its own ancestor")
}

// sourceOrder returns the order in which drafts are to be stored, so that each
// comes after those of the same call that it was drawn from, and otherwise as
// they were given; and which of them are drawn from themselves, by others or
// directly, and cannot be stored.
func sourceOrder(drafts []Draft) (order []int, cyclic map[int]bool) {
	w := sourceWalk{drafts: drafts, byID: map[string]int{}, cyclic: map[int]bool{}}
	for i := range drafts {
		if id := drafts[i].ID; id != "" {
			if _, there := w.byID[id]; !there {
				w.byID[id] = i
			}
		}
	}
	w.found, w.low = make([]int, len(drafts)), make([]int, len(drafts))
	w.open = make([]bool, len(drafts))
	for i := range drafts {
		if w.found[i] == 0 {
			w.visit(i)
		}
	}
	return w.order, w.cyclic
}

// sourceWalk finds the strongly connected components of drafts and their
// sources, each after those that it points to. R. Tarjan, "Depth-first search
// and linear graph algorithms", 1972.
type sourceWalk struct {
	drafts     []Draft
	byID       map[string]int
	found, low []int
	open       []bool
	stack      []int
	clock      int
	order      []int
	cyclic     map[int]bool
}

func (w *sourceWalk) visit(i int) {
	w.clock++
	w.found[i], w.low[i] = w.clock, w.clock
	w.stack, w.open[i] = append(w.stack, i), true
	for _, ref := range w.drafts[i].SourceCaseIDs {
		j, there := w.byID[strings.TrimSpace(ref)]
		switch {
		case !there:
		case j == i:
			w.cyclic[i] = true
		case w.found[j] == 0:
			w.visit(j)
			w.low[i] = min(w.low[i], w.low[j])
		case w.open[j]:
			w.low[i] = min(w.low[i], w.found[j])
		}
	}
	if w.low[i] != w.found[i] {
		return
	}
	at := len(w.stack) - 1
	for w.stack[at] != i {
		at--
	}
	members := w.stack[at:]
	for _, m := range members {
		w.open[m] = false
		w.order = append(w.order, m)
		if len(members) > 1 {
			w.cyclic[m] = true
		}
	}
	w.stack = w.stack[:at]
}
