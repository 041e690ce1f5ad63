package learning

import "slices"

// SuccessorsFirst orders a list so that nothing stands above what it ranks behind: that takes its place, and it comes
// next. raise gives the one whatever the list was ordered by, which the other had more of.
func SuccessorsFirst[T any](list []T, id func(*T) string, behind func(*T) []string, raise func(next, old *T)) {
	for range list { // a line of them ends after as many turns
		moved := false
		for i := 0; i < len(list); i++ {
			for _, first := range behind(&list[i]) {
				j := slices.IndexFunc(list, func(t T) bool { return id(&t) == first })
				if j <= i {
					continue
				}
				next := list[j]
				raise(&next, &list[i])
				copy(list[i+1:j+1], list[i:j])
				list[i], moved = next, true
				break
			}
		}
		if !moved {
			return
		}
	}
}

// Behind returns what something ranks behind: the one in its place, and those that may contradict it and whose
// writers may change it.
func Behind(supersededBy string, conflicts []Conflict) (ids []string) {
	if supersededBy != "" {
		ids = append(ids, supersededBy)
	}
	for _, c := range conflicts {
		if c.Yields && !c.Settled {
			ids = append(ids, c.ID)
		}
	}
	return ids
}
