package tfidf

import "math"

// vectors holds the candidates' terms with their weights, each document's one
// after the other, and dense copies of the few that all are compared with.
type vectors struct {
	ends   []int // per candidate, where its entries end
	terms  []uint32
	weight []float32
	norm   []float64

	dense [models][]float32
	used  [models][]uint32 // what of dense is not zero
}

func (v *vectors) reset() {
	v.ends, v.terms, v.weight, v.norm = v.ends[:0], v.terms[:0], v.weight[:0], v.norm[:0]
}

func (v *vectors) add(term uint32, weight float64) {
	v.terms = append(v.terms, term)
	v.weight = append(v.weight, float32(weight))
}

// end finishes the vector of one candidate.
func (v *vectors) end(norm float64) {
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

// load makes the vectors of a few candidates dense.
func (v *vectors) load(candidates []int) {
	for i, k := range candidates {
		for _, t := range v.used[i] {
			v.dense[i][t] = 0
		}
		v.used[i] = v.used[i][:0]
		if len(v.dense[i]) < maxLocal {
			v.dense[i] = make([]float32, maxLocal)
		}
		terms, weights := v.entries(k)
		for j, t := range terms {
			v.dense[i][t] = weights[j]
			v.used[i] = append(v.used[i], t)
		}
	}
}

// cosine compares candidate k with candidate m, which was loaded as number i.
func (v *vectors) cosine(k, i, m int) float64 {
	terms, weights := v.entries(k)
	dense := v.dense[i]
	dot := float32(0)
	for j, t := range terms {
		dot += weights[j] * dense[t]
	}
	if n := v.norm[k] * v.norm[m]; n > 0 {
		return float64(dot) / n
	}
	return 0
}
