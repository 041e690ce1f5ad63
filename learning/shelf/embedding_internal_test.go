package shelf

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/skillrouter/skillrouter/tfidf"
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

func TestNormalize(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for name, v := range map[string][]float32{
		"none": nil, "zeros": {0, 0, 0}, "not a number": {1, nan}, "infinite": {1, inf}, "10,000 dimensions": make([]float32, 10_000),
	} {
		if normalize(v) == nil {
			t.Errorf("%s: it is taken", name)
		}
	}
	v := []float32{0, 1e-20, math.MaxFloat32}
	if err := normalize(v); err != nil || v[2] != 1 {
		t.Error(v, err)
	}
}

// collection fills a table with groups of like vectors, and returns their vectors.
func collection(r *rand.Rand, n, dimension int) (t *table, vectors [][]float32) {
	t = &table{}
	t.reset(dimension)
	centre := random(r, dimension, nil, nil, 0.7)
	var group []float32
	for i := range n {
		if i%50 == 0 {
			group = random(r, dimension, nil, nil, 1)
		}
		v := random(r, dimension, centre, group, 0.8)
		_ = normalize(v) // it has a direction
		t.put(Embedding{EmbeddingKey: EmbeddingKey{EmbeddedKnowledge, fmt.Sprint(i)}, Vector: v}, tfidf.Document{Order: int64(i), Project: fmt.Sprint("p", i%100)})
		vectors = append(vectors, v)
	}
	return t, vectors
}

// TestNearestIsExact compares a search in parts with a plain one over all vectors.
func TestNearestIsExact(t *testing.T) {
	const n, dimension, limit = 3 * 8192, 33, 64
	r := rand.New(rand.NewPCG(1, 2))
	table, vectors := collection(r, n, dimension)
	for range 5 {
		query := random(r, dimension, nil, vectors[r.IntN(n)], 0.3)
		var want []neighbour
		for i, v := range vectors {
			sum := 0.0
			for k := range v {
				sum += float64(v[k]) * float64(query[k])
			}
			want = append(want, neighbour{fmt.Sprint(i), sum})
		}
		slices.SortFunc(want, nearer)
		found, _ := table.nearest(EmbeddedKnowledge, query, tfidf.Query{}, limit)
		if len(found) != limit {
			t.Fatalf("found %d", len(found))
		}
		for i, n := range found { // float32 may swap two that are as near
			if math.Abs(n.cosine-want[i].cosine) > 1e-5 {
				t.Fatalf("place %d is %v, want %v", i, n, want[i])
			}
		}
	}
}

func TestTableFilters(t *testing.T) {
	table, vectors := collection(rand.New(rand.NewPCG(3, 4)), 500, 32)
	query := slices.Clone(vectors[7])
	find := func(kind EmbeddingKind, filter tfidf.Query, limit int) []neighbour {
		found, _ := table.nearest(kind, query, filter, limit)
		return found
	}
	if found := find(EmbeddedKnowledge, tfidf.Query{}, 3); len(found) != 3 || found[0].id != "7" || found[0].cosine < 0.99 {
		t.Errorf("%+v", found)
	}
	for _, n := range find(EmbeddedKnowledge, tfidf.Query{Project: "p8"}, 10) {
		if n.id[len(n.id)-1] != '8' {
			t.Errorf("%s is of another project", n.id)
		}
	}
	for name, filter := range map[string]tfidf.Query{"category": {Category: "c"}, "project": {Project: "none"}, "tags": {Tags: []string{"t"}}} {
		if found := find(EmbeddedKnowledge, filter, 10); len(found) != 0 {
			t.Errorf("%s: %v", name, found)
		}
	}
	if found := find(EmbeddedLesson, tfidf.Query{}, 10); len(found) != 0 {
		t.Errorf("of another kind: %v", found)
	}
	table.remove(EmbeddingKey{EmbeddedKnowledge, "7"}, EmbeddingKey{EmbeddedKnowledge, "499"}, EmbeddingKey{EmbeddedKnowledge, "none"})
	for i, v := range vectors { // a removal moves a vector: each item must keep its own
		query = v
		if found := find(EmbeddedKnowledge, tfidf.Query{}, 1); (found[0].id == fmt.Sprint(i)) == (i == 7 || i == 499) {
			t.Errorf("the nearest to %d is %v", i, found)
		}
	}
	if _, _, n := table.size(EmbeddedKnowledge); n != 498 {
		t.Errorf("%d are left", n)
	}
	query = query[:5]
	if found := find(EmbeddedKnowledge, tfidf.Query{}, 1); found != nil {
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
		unexplained := fused(words, found, 0, limit, false)
		in := map[string]bool{}
		for i, h := range hits {
			if h.ID != unexplained[i].ID || h.Score != unexplained[i].Score {
				rt.Fatalf("explained, place %d has %s of %v; else %s of %v", i, h.ID, h.Score, unexplained[i].ID, unexplained[i].Score)
			}
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
	for _, n := range []int{20_000, 100_000} {
		table, vectors := collection(rand.New(rand.NewPCG(5, 6)), n, 384)
		for name, filter := range map[string]tfidf.Query{"all": {}, "one project of 100": {Project: "p7"}} {
			b.Run(fmt.Sprint(n, " ", name), func(b *testing.B) {
				for b.Loop() {
					table.nearest(EmbeddedKnowledge, vectors[7], filter, fuseDepth)
				}
			})
		}
	}
}
