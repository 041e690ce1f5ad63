package tfidf_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/skillrouter/skillrouter/tfidf"
)

func TestHostileQueries(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	ix := tfidf.New(tfidf.Options{})
	ix.Put(corpus(rng, 2000, 30)...)
	var distinct strings.Builder
	for i := range 10000 {
		fmt.Fprintf(&distinct, "%s ", word(uint64(i)))
	}
	for name, text := range map[string]string{
		"a megabyte of one word":  strings.Repeat("kalo ", 200000),
		"a megabyte without room": strings.Repeat("x", 1<<20),
		"ten thousand words":      distinct.String(),
		"ten thousand unknown":    strings.ReplaceAll(distinct.String(), "a", "q"),
		"mixed scripts":           "kalo данные 数据 بيانات δεδομένα 데이터 ข้อมูล डेटा",
		"right to left":           "\u202eشلوم\u202c עברית",
		"emoji":                   strings.Repeat("👩‍👩‍👧‍👦🏳️‍🌈", 500),
		"NUL":                     "kalo\x00mine\x00p3",
		"an attribute's name":     "\x00pp1",
		"invalid UTF-8":           "\xff\xfe\xc0\x80kalo\xed\xa0\x80",
		"combining marks":         "k" + strings.Repeat("\u0301", 20000),
		"slashes":                 strings.Repeat("a/", 8000),
		"dots":                    strings.Repeat("a.", 8000) + "b",
		"apostrophes":             strings.Repeat("a'", 8000),
		"capitals":                strings.Repeat("aB", 8000),
	} {
		t.Run(name, func(t *testing.T) {
			r := ix.Search(tfidf.Query{Text: text, Explain: true, Limit: 1 << 30})
			if len(r.Terms) > tfidf.MaxQueryTerms || len(r.Hits) > tfidf.MaxLimit {
				t.Errorf("%d terms, %d hits", len(r.Terms), len(r.Hits))
			}
		})
	}
}

func TestHostileDocuments(t *testing.T) {
	ix := tfidf.New(tfidf.Options{})
	for i, text := range []string{
		"", " ", "a", "\x00", "\xff", "数", strings.Repeat("zebra ", 200000), strings.Repeat("y", 1<<21),
		strings.Repeat("needle hay ", 3000) + "pin", strings.Repeat("a_b-c.D/e ", 50000), strings.Repeat("\u0301", 100000),
	} {
		ix.Put(tfidf.Document{ID: fmt.Sprint(i), Title: text, Body: text, Tags: make([]string, 1000)})
	}
	ix.Put(tfidf.Document{})
	for text, want := range map[string]string{"zebra": "6", "pin": "8", "a": "2"} {
		if r := ix.Search(tfidf.Query{Text: text}); len(r.Hits) == 0 || !strings.Contains(" "+found(r)+" ", " "+want+" ") {
			t.Errorf("%q: %v", text, r.Hits)
		}
	}
}

// TestOneSharedTerm holds an index in which every document has one word.
func TestOneSharedTerm(t *testing.T) {
	n := 200000
	if testing.Short() {
		n = 20000
	}
	ix := tfidf.New(tfidf.Options{})
	docs := make([]tfidf.Document, n)
	for i := range docs {
		docs[i] = tfidf.Document{ID: fmt.Sprintf("d%06d", i), Body: "shared"}
	}
	ix.Put(docs...)
	r := ix.Search(tfidf.Query{Text: "shared", Limit: 3})
	if got := found(r); got != "d000000 d000001 d000002" {
		t.Errorf("found %q", got)
	}
	var half []string
	for i := 0; i < n; i += 2 {
		half = append(half, docs[i].ID)
	}
	ix.Delete(half...)
	if got := found(ix.Search(tfidf.Query{Text: "shared", Limit: 2})); got != "d000001 d000003" || ix.Len() != n/2 {
		t.Errorf("after deleting half: %q of %d", got, ix.Len())
	}
}

// TestConcurrent searches while documents come, change and go. Every batch
// swaps the word that all documents hold, so that a search that sees a batch
// in part would find both words.
func TestConcurrent(t *testing.T) {
	ix := tfidf.New(tfidf.Options{})
	docs, rounds := 120, 12
	batch := func(word string) (out []tfidf.Document) {
		for i := range docs {
			out = append(out, tfidf.Document{ID: fmt.Sprint(i), Title: word, Body: fmt.Sprintf("filler%d more words here", i), Project: "p"})
		}
		return out
	}
	ix.Put(batch("even")...)
	var all sync.WaitGroup
	var done atomic.Bool
	for i := range 4 {
		all.Go(func() {
			for !done.Load() {
				q := tfidf.Query{Text: "even odd", Limit: tfidf.MaxLimit}
				if i%2 == 0 {
					q.Project = "p"
				}
				r := ix.Search(q)
				q.Text = "filler7"
				ix.Search(q)
				if len(r.Hits) != docs {
					t.Errorf("a search saw %d of %d documents", len(r.Hits), docs)
					return
				}
			}
		})
	}
	all.Go(func() {
		for i := range rounds {
			ix.Put(tfidf.Document{ID: fmt.Sprint("extra", i), Body: "unrelated"})
			ix.Delete(fmt.Sprint("extra", i-3))
		}
	})
	for i := range rounds {
		ix.Put(batch([]string{"odd", "even"}[i%2])...)
	}
	done.Store(true)
	all.Wait()
	if err := ix.Check(); err != nil {
		t.Error(err)
	}
	if r := ix.Search(tfidf.Query{Text: "even"}); len(r.Hits) == 0 || len(ix.Search(tfidf.Query{Text: "odd"}).Hits) != 0 {
		t.Errorf("after all rounds: %v", r.Hits)
	}
}

func FuzzSearch(f *testing.F) {
	ix := tfidf.New(tfidf.Options{})
	ix.Put(corpus(rand.New(rand.NewPCG(6, 6)), 600, 20)...)
	for _, s := range []string{"kalo mine", "\x00pp1", "数据", "aB.c/d_e", strings.Repeat("kalo ", 300), "\xff"} {
		f.Add(s, "p1", "t1", 10)
	}
	f.Fuzz(func(t *testing.T, text, project, tag string, limit int) {
		q := tfidf.Query{Text: text, Project: project, Limit: limit, Explain: true}
		if tag != "" {
			q.Tags = []string{tag}
		}
		r := ix.Search(q)
		if len(r.Hits) > tfidf.MaxLimit {
			t.Fatalf("%d hits", len(r.Hits))
		}
		for i, h := range r.Hits {
			sum := 0.0
			for _, w := range h.Why {
				sum += w.Weight
			}
			if sum != h.Score || !(h.Score > 0) || i > 0 && h.Score > r.Hits[i-1].Score {
				t.Fatalf("hit %d of %q: %+v", i, text, h)
			}
		}
	})
}
