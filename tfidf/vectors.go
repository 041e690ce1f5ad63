package tfidf

import "math"

// vectors holds the candidates' terms with their weights, each document's one
// after the other, and of the few that all are compared with a table by term.
type vectors struct {
	entries []weighted
	ends    []int // per candidate, where its entries end
	norm    []float64

	dense [][models]float32
}

// weighted is a term, by its small number, and what it weighs in a document.
type weighted struct {
	term   uint32
	weight float32
}

func (v *vectors) reset() {
	v.entries, v.ends, v.norm = v.entries[:0], v.ends[:0], v.norm[:0]
}

// add adds an entry to the vector of the candidate at hand.
func (v *vectors) add(term uint32, weight float64) {
	v.entries = append(v.entries, weighted{term, float32(weight)})
}

// end finishes the vector of one candidate.
func (v *vectors) end(norm float64) {
	v.ends = append(v.ends, len(v.entries))
	v.norm = append(v.norm, math.Sqrt(norm))
}

// of returns the vector of candidate k.
func (v *vectors) of(k int) []weighted {
	from := 0
	if k > 0 {
		from = v.ends[k-1]
	}
	return v.entries[from:v.ends[k]]
}

// load makes the vectors of a few candidates, whose terms are below n, ready to be compared with.
func (v *vectors) load(candidates []int, n int) {
	v.dense = grown(v.dense, n)
	clear(v.dense)
	for i, k := range candidates {
		for _, e := range v.of(k) {
			v.dense[e.term][i] = e.weight
		}
	}
}

// products returns the scalar products of candidate k with those that were loaded.
func (v *vectors) products(k int) (dots [models]float32) {
	for _, e := range v.of(k) {
		for i, x := range v.dense[e.term] {
			dots[i] += e.weight * x
		}
	}
	return dots
}
