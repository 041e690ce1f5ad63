package skillrouter

import "sort"

// Sort sorts as slices.SortFunc does, and SortStable as slices.SortStableFunc. Those are compiled
// anew for each type of elements, some 12 KB of the program each time; these share one copy of the
// algorithm. What sorts thousands of elements for a request uses those: they are faster.
func Sort[E any](list []E, compare func(a, b E) int) {
	sort.Slice(list, func(i, j int) bool { return compare(list[i], list[j]) < 0 })
}

// SortStable is Sort that keeps the order of equal elements.
func SortStable[E any](list []E, compare func(a, b E) int) {
	sort.SliceStable(list, func(i, j int) bool { return compare(list[i], list[j]) < 0 })
}
