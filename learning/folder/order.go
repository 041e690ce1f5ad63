package folder

import (
	"cmp"
	"slices"
	"strings"

	"skillrouter/learning/lesson"
)

// order puts reports in an order in which each lesson comes after those that it
// was drawn from, and refuses those for which there is none: sources that go in
// a circle, or that are nowhere.
func order(steps []Step, lessons []lesson.Lesson) {
	there := map[string]bool{} // in the router, or reported by an earlier step
	for _, lesson := range lessons {
		there[lesson.ID] = true
	}
	waiting := map[string]*Step{}
	var queue []*Step
	for i := range steps {
		switch step := &steps[i]; {
		case step.Action == ActionReport:
			waiting[step.ID] = step
			queue = append(queue, step)
		case step.file != nil && step.lesson != nil:
			there[step.ID] = true
		}
	}
	slices.SortFunc(queue, func(a, b *Step) int {
		return cmp.Or(cmp.Compare(rank(a.file.Entry.Level), rank(b.file.Entry.Level)), strings.Compare(a.ID, b.ID))
	})
	place := map[string]int{}
	// A depth-first walk over sources, without recursion: a chain may be as long as the folder.
	const under, done = 1, 2
	mark := map[string]int{}
	type visit struct {
		step *Step
		next int // the source to look at
	}
	for _, root := range queue {
		if mark[root.ID] != 0 {
			continue
		}
		mark[root.ID] = under
		stack := []visit{{step: root}}
		for len(stack) > 0 {
			top := &stack[len(stack)-1]
			sources := top.step.file.Entry.SourceCaseIDs
			if top.next == len(sources) {
				mark[top.step.ID] = done
				if top.step.Action == ActionReport {
					there[top.step.ID] = true
					place[top.step.ID] = len(place) + 1
				}
				stack = stack[:len(stack)-1]
				continue
			}
			source := sources[top.next]
			switch next := waiting[source]; {
			case there[source]:
			case next == nil:
				refuse(top.step, "source_case_ids names "+source+", which is neither in the folder nor in the router")
			case mark[source] == under:
				at := slices.IndexFunc(stack, func(v visit) bool { return v.step == next })
				for _, v := range stack[at:] {
					refuse(v.step, "source_case_ids goes in a circle: "+v.step.ID+" is among its own sources, by way of "+v.step.file.Entry.SourceCaseIDs[v.next])
				}
			case mark[source] == done: // refused
				refuse(top.step, "source_case_ids names "+source+", which is refused")
			default:
				mark[source] = under
				stack = append(stack, visit{step: next})
				continue // and look at it again when it is done
			}
			top.next++
		}
	}
	slices.SortStableFunc(steps, func(a, b Step) int { return cmp.Compare(place[a.ID], place[b.ID]) })
}

func refuse(step *Step, why string) {
	if step.Action != ActionRefused {
		step.Action, step.Why = ActionRefused, why
	}
}
