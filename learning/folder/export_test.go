package folder

import (
	"maps"
	"slices"
)

// LabelWords lists every label, in lower case and in order.
func LabelWords() []string { return slices.Sorted(maps.Keys(labels())) }
