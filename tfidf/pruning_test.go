package tfidf_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"skillrouter/tfidf"
)

// TestPruningIsExactInAnyState compares the pruned search with the exhaustive
// one in states that rapid makes up: segments of many sizes, ids in any order,
// equal documents, dead ones, an average length that moves, and filters and
// bounds on top.
func TestPruningIsExactInAnyState(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 8))
		ix := tfidf.New(tfidf.Options{})
		var ids []string
		for step := range rapid.IntRange(1, 5).Draw(t, "steps") {
			docs := corpus(rng, rapid.SampledFrom([]int{1, 40, 300}).Draw(t, "docs"), 1+rng.IntN(12))
			ascending := rapid.Bool().Draw(t, "ascending")
			longer := rapid.SampledFrom([]int{1, 1, 20}).Draw(t, "longer")
			equal := rapid.Bool().Draw(t, "equal")
			for i := range docs {
				d := &docs[i]
				d.ID = fmt.Sprintf("%02d-%06d", step, i)
				if !ascending {
					d.ID = fmt.Sprintf("%x-%s", rng.Uint32(), d.ID)
				}
				if equal {
					d.Title, d.Body = docs[i%3].Title, docs[i%3].Body
				}
				d.Body = strings.Repeat(d.Body+" ", longer)
				d.At = int64(rng.IntN(1000))
				ids = append(ids, d.ID)
			}
			ix.Put(docs...)
			gone := make([]string, rapid.IntRange(0, len(ids)/2).Draw(t, "deleted"))
			for i := range gone {
				gone[i] = ids[rng.IntN(len(ids))]
			}
			ix.Delete(gone...)
		}
		for range 6 {
			q := query(rng)
			if rng.IntN(3) == 0 {
				q.From, q.To = int64(rng.IntN(1000)), int64(rng.IntN(1500))
			}
			if a, b := ix.Search(q), ix.SearchExhaustive(q); !reflect.DeepEqual(a, b) {
				t.Fatalf("%+v: pruned and exhaustive differ\n%v\n%v", q, a.Hits, b.Hits)
			}
		}
	})
}

// TestEqualDocuments puts more equal documents than a window holds, with ids
// that fall: those with the lowest ids are found, and all with one score.
func TestEqualDocuments(t *testing.T) {
	for name, id := range map[string]func(i, n int) string{
		"ids that ascend": func(i, _ int) string { return fmt.Sprintf("%06d", i) },
		"ids that fall":   func(i, n int) string { return fmt.Sprintf("%06d", n-1-i) },
		"ids in disorder": func(i, n int) string { return fmt.Sprintf("%06d", i*7919%n) },
	} {
		t.Run(name, func(t *testing.T) {
			const n = 20_000
			docs := make([]tfidf.Document, n)
			for i := range docs {
				docs[i] = tfidf.Document{ID: id(i, n), Title: "equal", Body: "every one of them is the same"}
			}
			ix := tfidf.New(tfidf.Options{})
			ix.Put(docs...)
			hits := ix.Search(tfidf.Query{Text: "equal same", Limit: 100}).Hits
			if len(hits) != 100 {
				t.Fatalf("%d hits", len(hits))
			}
			for i, h := range hits {
				if h.ID != fmt.Sprintf("%06d", i) || h.Score != hits[0].Score {
					t.Fatalf("hit %d is %s with %v, the first has %v", i, h.ID, h.Score, hits[0].Score)
				}
			}
		})
	}
}
