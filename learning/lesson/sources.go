package lesson

import (
	"slices"
	"strings"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
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

// SourceOrder returns the order in which drafts are to be stored, so that each
// comes after those of the same call that it was drawn from, and otherwise as
// they were given; and which of them stand in a circle of sources, and cannot be stored.
func SourceOrder(drafts []Draft) (order []int, cyclic map[int]bool) {
	byID := map[string]int{}
	for i := range drafts {
		if _, there := byID[drafts[i].ID]; !there && drafts[i].ID != "" {
			byID[drafts[i].ID] = i
		}
	}
	cyclic = map[int]bool{}
	visited, place := make([]bool, len(drafts)), make([]int, len(drafts))
	var path []int // to the draft that is visited; place is where each stands in it, from 1
	var visit func(i int)
	visit = func(i int) {
		visited[i], path = true, append(path, i)
		place[i] = len(path)
		for _, ref := range drafts[i].SourceCaseIDs {
			j, there := byID[strings.TrimSpace(ref)]
			if there && !visited[j] {
				visit(j)
			} else if there && place[j] > 0 {
				for _, member := range path[place[j]-1:] {
					cyclic[member] = true
				}
			}
		}
		path, place[i], order = path[:len(path)-1], 0, append(order, i)
	}
	for i := range drafts {
		if !visited[i] {
			visit(i)
		}
	}
	return order, cyclic
}
