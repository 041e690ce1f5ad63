package tfidf

import (
	"math"
	"slices"
)

// vectors holds the candidates' terms with their weights, each document's one
// after the other, and of the few that all are compared with a table by term.
type vectors struct {
	ends   []int // per candidate, where its entries end
	terms  []uint32
	weight []float32
	norm   []float64

	dense [][models]float32
}

func (v *vectors) reset() {
	v.ends, v.terms, v.weight, v.norm = v.ends[:0], v.terms[:0], v.weight[:0], v.norm[:0]
}

// begin makes room for a vector of n entries at most.
func (v *vectors) begin(n int) (terms []uint32, weights []float32) {
	at := len(v.terms)
	v.terms, v.weight = slices.Grow(v.terms, n), slices.Grow(v.weight, n)
	return v.terms[at : at+n], v.weight[at : at+n]
}

// end finishes the vector of one candidate, of which n entries have been filled.
func (v *vectors) end(n int, norm float64) {
	v.terms, v.weight = v.terms[:len(v.terms)+n], v.weight[:len(v.weight)+n]
	v.ends = append(v.ends, len(v.terms))
	v.norm = append(v.norm, math.Sqrt(norm))
}

func (v *vectors) entries(k int) (terms []uint32, weights []float32) {
	from := 0
	if k > 0 {
		from = v.ends[k-1]
	}
	return v.terms[from:v.ends[k]], v.weight[from:v.ends[k]]
}

// load makes the vectors of a few candidates, whose terms are below n, ready to be compared with.
func (v *vectors) load(candidates []int, n int) {
	v.dense = grown(v.dense, n)
	clear(v.dense)
	for i, k := range candidates {
		terms, weights := v.entries(k)
		for j, t := range terms {
			v.dense[t][i] = weights[j]
		}
	}
}

// products returns the scalar products of candidate k with those that were loaded.
func (v *vectors) products(k int) (dots [models]float32) {
	terms, weights := v.entries(k)
	for j, t := range terms {
		w, d := weights[j], &v.dense[t]
		for i := range dots {
			dots[i] += w * d[i]
		}
	}
	return dots
}
