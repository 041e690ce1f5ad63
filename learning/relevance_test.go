package learning_test

import (
	"slices"
	"testing"

	"github.com/skillrouter/skillrouter/learning"
)

// TestRelevant holds what is left out of hits: people are shown nothing where nothing is
// relevant enough, and else what may belong to it.
func TestRelevant(t *testing.T) {
	for _, test := range []struct {
		least float64
		shown bool
		hits  []float64
		want  []float64
	}{
		{0, false, []float64{0.5, 0.02, 0}, []float64{0.5, 0.02, 0}},
		{0.05, false, []float64{0.05, 0.5, 0.049}, []float64{0.05, 0.5}},
		{0, true, []float64{0.04, 0.1, 0.03, 0.029, 0}, []float64{0.04, 0.1, 0.03}}, // the best need not stand first
		{0, true, []float64{0.099, 0.09}, nil},
		{0.2, true, []float64{0.5, 0.1}, []float64{0.5}},
		{0, true, nil, nil},
	} {
		got := learning.Relevant(slices.Clone(test.hits), test.least, test.shown, func(hit float64) float64 { return hit })
		if !slices.Equal(got, test.want) {
			t.Errorf("of %v from %v (shown: %v): %v, want %v", test.hits, test.least, test.shown, got, test.want)
		}
	}
}
