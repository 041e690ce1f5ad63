package shelf

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"skillrouter/tfidf"
)

// random is a vector of independent parts, around a centre that all texts have in
// common, as the vectors of real models are.
func random(r *rand.Rand, dimension int, centre, around []float32, spread float64) []float32 {
	v := make([]float32, dimension)
	for i := range v {
		v[i] = float32(r.NormFloat64() * spread)
		if centre != nil {
			v[i] += centre[i]
		}
		if around != nil {
			v[i] += around[i]
		}
	}
	return v
}

func cosine(a, b []float32) float64 {
	sum := 0.0
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum / math.Sqrt(squares(a)*squares(b))
}

func TestQuantizedCosine(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dimension := rapid.IntRange(1, 512).Draw(rt, "dimension")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0))
		scale := rapid.SampledFrom([]float64{1e-15, 1e-3, 1, 1e6, 1e15}).Draw(rt, "scale")
		a, b := random(r, dimension, nil, nil, scale), random(r, dimension, nil, nil, 1)
		codeA, scaleA := quantize(a)
		codeB, scaleB := quantize(b)
		got := float64(dot(codeA, codeB)) * float64(scaleA) * float64(scaleB)
		if want := cosine(a, b); math.Abs(got-want) > 0.02 {
			rt.Fatalf("cosine %g, want %g", got, want)
		}
		if self := float64(dot(codeA, codeA)) * float64(scaleA) * float64(scaleA); math.Abs(self-1) > 0.02 {
			rt.Fatalf("cosine with itself %g", self)
		}
	})
}

func TestCheckVector(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for name, v := range map[string][]float32{
		"none": nil, "zeros": {0, 0, 0}, "not a number": {1, nan}, "infinite": {1, inf}, "10,000 dimensions": make([]float32, 10_000),
	} {
		if checkVector(v) == nil {
			t.Errorf("%s: it is taken", name)
		}
	}
	if err := checkVector([]float32{0, 1e-20, math.MaxFloat32}); err != nil {
		t.Error(err)
	}
}

// collection fills a matrix with groups of like vectors, and returns their vectors.
func collection(m *matrix, r *rand.Rand, n, dimension int) (vectors [][]float32) {
	m.reset(dimension)
	centre := random(r, dimension, nil, nil, 0.7)
	var group []float32
	for i := range n {
		if i%50 == 0 {
			group = random(r, dimension, nil, nil, 1)
		}
		v := random(r, dimension, centre, group, 0.8)
		e := Embedding{EmbeddingKey: EmbeddingKey{EmbeddedKnowledge, fmt.Sprint(i)}}
		e.Code, e.Scale = quantize(v)
		m.put(e, tfidf.Document{Order: int64(i), Project: fmt.Sprint("p", i%100)})
		vectors = append(vectors, v)
	}
	return vectors
}

// TestSignsLoseLittle compares the search that looks at signs first, in bytes, with
// one over all vectors in full.
func TestSignsLoseLittle(t *testing.T) {
	if testing.Short() {
		t.Skip("it compares 20,000 vectors in full")
	}
	const n, dimension, limit = 20_000, 384, 64
	m, r := newMatrix(), rand.New(rand.NewPCG(1, 2))
	vectors := collection(m, r, n, dimension)
	kept, kept10, queries := 0, 0, 10
	for range queries {
		query := random(r, dimension, nil, vectors[r.IntN(n)], 0.8)
		order := make([]int, n)
		cosines := make([]float64, n)
		for i, v := range vectors {
			order[i], cosines[i] = i, cosine(query, v)
		}
		slices.SortFunc(order, func(a, b int) int {
			if cosines[a] > cosines[b] {
				return -1
			}
			return 1
		})
		code, scale := quantize(query)
		found := m.nearest(EmbeddedKnowledge, code, scale, tfidf.Query{}, limit)
		for place, i := range order[:limit] {
			if at := slices.IndexFunc(found, func(n neighbour) bool { return n.id == fmt.Sprint(i) }); at >= 0 {
				kept++
				if place < 10 && at < 10 {
					kept10++
				}
			}
		}
	}
	best10, best := float64(kept10)/float64(10*queries), float64(kept)/float64(limit*queries)
	t.Logf("of the nearest ten %.3f are found among ten, of the nearest %d %.3f", best10, limit, best)
	if best10 < 0.97 || best < 0.97 {
		t.Errorf("of the nearest ten %.3f are found among ten, of the nearest %d %.3f", best10, limit, best)
	}
}

func TestMatrixFilters(t *testing.T) {
	m, r := newMatrix(), rand.New(rand.NewPCG(3, 4))
	vectors := collection(m, r, 500, 32)
	code, scale := quantize(vectors[7])
	if found := m.nearest(EmbeddedKnowledge, code, scale, tfidf.Query{}, 3); len(found) != 3 || found[0].id != "7" || found[0].cosine < 0.99 {
		t.Errorf("%+v", found)
	}
	for _, n := range m.nearest(EmbeddedKnowledge, code, scale, tfidf.Query{Project: "p8"}, 10) {
		if n.id[len(n.id)-1] != '8' {
			t.Errorf("%s is of another project", n.id)
		}
	}
	for name, filter := range map[string]tfidf.Query{"category": {Category: "c"}, "project": {Project: "none"}, "tags": {Tags: []string{"t"}}} {
		if found := m.nearest(EmbeddedKnowledge, code, scale, filter, 10); len(found) != 0 {
			t.Errorf("%s: %v", name, found)
		}
	}
	if found := m.nearest(EmbeddedLesson, code, scale, tfidf.Query{}, 10); len(found) != 0 {
		t.Errorf("of another kind: %v", found)
	}
	m.remove(EmbeddingKey{EmbeddedKnowledge, "7"})
	if found := m.nearest(EmbeddedKnowledge, code, scale, tfidf.Query{}, 1); found[0].id == "7" || m.count("") != 499 {
		t.Errorf("%v after it was removed", found)
	}
	if found := m.nearest(EmbeddedKnowledge, code[:5], scale, tfidf.Query{}, 1); found != nil {
		t.Errorf("of another dimension: %v", found)
	}
}

// TestFusedIsReciprocalRank holds the fusion to the formula, and to its promises.
func TestFusedIsReciprocalRank(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		ids := rapid.Permutation([]string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"})
		lexical, vector := ids.Draw(rt, "words")[:rapid.IntRange(0, 10).Draw(rt, "n")], ids.Draw(rt, "vectors")[:rapid.IntRange(0, 10).Draw(rt, "m")]
		limit := rapid.IntRange(1, 12).Draw(rt, "limit")
		var words []tfidf.Hit
		var found []neighbour
		want := map[string]float64{}
		for i, id := range lexical {
			score := 10 / float64(i+1)
			words = append(words, tfidf.Hit{ID: id, Score: score, Why: []tfidf.Reason{{Lane: "word", Weight: score * 0.75}, {Lane: "near", Weight: score * 0.25}}})
			want[id] += 1 / float64(60+i+1)
		}
		for i, id := range vector {
			found = append(found, neighbour{id, 1 - float64(i)/20})
			want[id] += 1 / float64(60+i+1)
		}
		hits := fused(words, found, 0, limit, true)
		if len(hits) != min(limit, len(want)) {
			rt.Fatalf("%d hits of %d", len(hits), len(want))
		}
		in := map[string]bool{}
		for i, h := range hits {
			sum := 0.0
			for _, r := range h.Why {
				sum += r.Weight
			}
			if score := want[h.ID] / (2.0 / 61); math.Abs(h.Score-score) > 1e-12 || math.Abs(sum-score) > 1e-12 {
				rt.Fatalf("%s: score %g, its parts %g, want %g", h.ID, h.Score, sum, score)
			}
			if i > 0 && h.Score > hits[i-1].Score {
				rt.Fatalf("place %d is better than the one before", i)
			}
			in[h.ID] = true
		}
		if len(words) > 0 && !in[words[0].ID] {
			rt.Fatalf("the first of the words is lost: %v", hits)
		}
		for id, score := range want { // none that is better is left out, but for the first of the words
			if last := hits[len(hits)-1]; !in[id] && score/(2.0/61) > last.Score+1e-12 && last.ID != words[0].ID {
				rt.Fatalf("%s is left out", id)
			}
		}
	})
}

func TestFusedLeavesTheFarOut(t *testing.T) {
	words := []tfidf.Hit{{ID: "a", Score: 3}}
	hits := fused(words, []neighbour{{"b", 0.5}, {"a", 0.1}, {"c", 0.2}}, 0.3, 10, false)
	if len(hits) != 2 || hits[0].ID != "a" || hits[1].ID != "b" {
		t.Errorf("%+v", hits)
	}
}

func BenchmarkNearest(b *testing.B) {
	const n, dimension = 100_000, 768
	m, r := newMatrix(), rand.New(rand.NewPCG(5, 6))
	m.reset(dimension)
	e := Embedding{Code: make([]int8, dimension), Scale: 0.01}
	for i := range n {
		for k := range e.Code {
			e.Code[k] = int8(r.Uint32())
		}
		e.EmbeddingKey = EmbeddingKey{EmbeddedKnowledge, fmt.Sprint(i)}
		m.put(e, tfidf.Document{Project: fmt.Sprint("p", i%200)})
	}
	b.Logf("%d MB", m.bytes()>>20)
	for name, filter := range map[string]tfidf.Query{"all": {}, "one project of 500": {Project: "p7"}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				m.nearest(EmbeddedKnowledge, e.Code, e.Scale, filter, fuseDepth)
				m.usual(EmbeddedKnowledge, e.Code, e.Scale)
			}
		})
	}
}
