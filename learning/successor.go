package learning

import "slices"

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
