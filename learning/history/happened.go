package history

import (
	"context"
	"slices"
)

// Happened is what the steps of a session did of an incident, by their places.
type Happened struct {
	Again []int // a command failed in the same way
	Ran   []int // the incident's program ran, and went through
}

// Happened says what the steps of a session did of these incidents, by their ids. Ids of none are passed over.
func (n *Incidents) Happened(ctx context.Context, draft Draft, ids []string) (map[string]Happened, error) {
	var numbers []int64
	for _, id := range ids {
		if number, err := NumberOf(id); err == nil {
			numbers = append(numbers, number)
		}
	}
	if len(numbers) == 0 {
		return nil, nil
	}
	known, err := n.store.Incidents(ctx, numbers)
	if err != nil {
		return nil, err
	}
	all := map[string]Happened{}
	o := observe(draft.Steps)
	for i, s := range draft.Steps {
		switch s.Outcome {
		case Failed:
			f := o.failed(i)
			if f.class != mistake {
				continue
			}
			for _, program := range append([]string{f.program}, o.view(i).programs...) {
				if inc, is := known[key(draft.Project, program, f.err)]; is {
					h := all[inc.ID]
					h.Again = append(h.Again, i)
					all[inc.ID] = h
					break
				}
			}
		case Worked:
			for _, inc := range known {
				if slices.Contains(o.view(i).programs, inc.Program) {
					h := all[inc.ID]
					h.Ran = append(h.Ran, i)
					all[inc.ID] = h
				}
			}
		}
	}
	return all, nil
}

// Follows tells whether a command that ran is what a fix told: the same, or with another path.
func Follows(told, ran string) bool {
	told, ran = oneLine(told), oneLine(stored(ran))
	return told == ran || same(told, ran) || alike(told, ran) >= sameFix
}
