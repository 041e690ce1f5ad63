package search

import (
	"cmp"
	"context"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/router/kind"
	"github.com/skillrouter/skillrouter/tfidf"
)

// judged is a search of testdata/mixed.txt and what it is meant to find, the better first.
type judged struct {
	query string
	meant []string
}

// mixedMemory reads testdata/mixed.txt into an index for each kind, and a Searcher over them.
func mixedMemory(t *testing.T) (*Searcher, []judged, map[string]tfidf.Evidence) {
	text, err := os.ReadFile("testdata/mixed.txt")
	if err != nil {
		t.Fatal(err)
	}
	docs, titles, ids := map[string][]tfidf.Document{}, map[string]string{}, map[string]string{}
	var searches []judged
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if query, is := strings.CutPrefix(line, "? "); is {
			words, meant, ok := strings.Cut(query, "|")
			if !ok {
				t.Fatalf("%q has no bar", line)
			}
			searches = append(searches, judged{strings.TrimSpace(words), strings.Fields(meant)})
			continue
		}
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Split(line, " | ")
		if len(f) < 4 {
			t.Fatalf("%q has %d fields", line, len(f))
		}
		kind, id := f[0], f[1]
		title, body := f[2], strings.Join(f[3:], " | ")
		if title == "message" {
			title = ""
		}
		if ids[id] != "" {
			t.Fatalf("there are two %s", id)
		}
		ids[id], titles[id] = kind, title+"\n"+body
		docs[kind] = append(docs[kind], tfidf.Document{ID: id, Title: title, Body: body, Order: int64(10 * len(ids))})
	}
	for _, s := range searches {
		for _, id := range s.meant {
			if ids[id] == "" {
				t.Fatalf("%q means %s, which is not there", s.query, id)
			}
		}
	}
	seen, mu := map[string]tfidf.Evidence{}, sync.Mutex{} // the kinds are asked at the same time
	searcher := &Searcher{now: time.Now}
	for _, k := range kind.Placed(kind.All(), kind.Searched) {
		ix := tfidf.New(tfidf.Options{})
		ix.Put(docs[k.Name]...)
		k.Private, k.OfProject, k.HasTags, k.HasAuthor = false, true, true, true
		searcher.kinds = append(searcher.kinds, kind.Memory{Kind: k, Words: ix, Search: func(_ context.Context, q kind.Question) (kind.Found, error) {
			var f kind.Found
			for _, hit := range ix.Search(tfidf.Query{Text: q.Text, Limit: q.Limit, Corpus: q.Corpus}).Hits {
				mu.Lock()
				seen[hit.ID] = hit.Evidence
				mu.Unlock()
				f.Hits = append(f.Hits, kind.Hit{ID: hit.ID, Title: titles[hit.ID], Score: hit.Score, Evidence: hit.Evidence})
			}
			return f, nil
		}})
	}
	return searcher, searches, seen
}

func reader() context.Context {
	return principal.With(context.TODO(), principal.Open())
}

// example is a hit of a judged search.
type example struct {
	features []float64
	meant    float64
}

func featuresOf(e tfidf.Evidence) []float64 {
	return []float64{1, e.Words, e.Compounds, e.Letters, e.Near, min(e.Mass, tfidf.MostMass), e.Best}
}

// examples are the hits of the searches of one half.
func examples(t *testing.T, s *Searcher, searches []judged, seen map[string]tfidf.Evidence, half int) []example {
	var list []example
	for i, judged := range searches {
		if i%2 != half {
			continue
		}
		clear(seen)
		r, err := s.check(reader(), Query{Query: judged.query, Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		s.weigh(t.Context(), r)
		if _, err := s.ask(reader(), r); err != nil {
			t.Fatal(err)
		}
		for _, id := range slices.Sorted(func(yield func(string) bool) {
			for id := range seen {
				if !yield(id) {
					return
				}
			}
		}) {
			meant := 0.0
			if slices.Contains(judged.meant, id) {
				meant = 1
			}
			list = append(list, example{featuresOf(seen[id]), meant})
		}
	}
	return list
}

// fitted is the logistic regression of the examples, by gradient descent with a small ridge.
func fitted(list []example) []float64 {
	n := len(list[0].features)
	w := make([]float64, n)
	for range 20_000 {
		gradient := make([]float64, n)
		for _, e := range list {
			p := probability(w, e.features)
			for i, x := range e.features {
				gradient[i] += (p - e.meant) * x
			}
		}
		for i := range w {
			ridge := 0.0
			if i > 0 {
				ridge = 1e-3 * w[i]
			}
			w[i] -= 0.5 * (gradient[i]/float64(len(list)) + ridge)
		}
	}
	return w
}

func probability(w, features []float64) float64 {
	sum := 0.0
	for i, x := range features {
		sum += w[i] * x
	}
	return 1 / (1 + math.Exp(-sum))
}

// gain is nDCG@10 with the relevance of what is meant falling with its place.
func gain(list, meant []string) float64 {
	worth := func(id string) float64 {
		if i := slices.Index(meant, id); i >= 0 {
			return 1 / float64(min(i, 2)+1)
		}
		return 0
	}
	sum, best := 0.0, 0.0
	for i, id := range list[:min(len(list), 10)] {
		sum += worth(id) / math.Log2(float64(i)+2)
	}
	for i, id := range meant[:min(len(meant), 10)] {
		best += worth(id) / math.Log2(float64(i)+2)
	}
	return sum / best
}

// TestRelevance fits the calibration anew on one half of the judged searches,
// and holds ranking and probabilities to the other.
func TestRelevance(t *testing.T) {
	s, searches, seen := mixedMemory(t)
	if len(searches) < 110 {
		t.Fatalf("there are %d searches only", len(searches))
	}
	w := fitted(examples(t, s, searches, seen, 0))
	c := tfidf.RelevanceWeights
	used := []float64{tfidf.RelevanceBias, c.Words, c.Compounds, c.Letters, c.Near, c.Mass, c.Best}
	for i := range w {
		if math.Abs(w[i]-used[i]) > 0.15 {
			t.Errorf("the calibration is %.2f and the examples say %.2f: has the engine changed? then take these over", used, w)
			break
		}
	}

	held := examples(t, s, searches, seen, 1)
	var bins [5]struct {
		n                float64
		said, was, error float64
	}
	brier, base := 0.0, 0.0
	for _, e := range held {
		base += e.meant / float64(len(held))
	}
	off := 0.0
	for _, e := range held {
		p := probability(used, e.features)
		b := &bins[min(int(p*5), 4)]
		b.n++
		b.said, b.was = b.said+p, b.was+e.meant
		brier += (p - e.meant) * (p - e.meant) / float64(len(held))
	}
	for i, b := range bins {
		if b.n > 0 {
			t.Logf("said %.1f–%.1f: %3.0f hits, said %.2f, were meant %.2f", float64(i)/5, float64(i+1)/5, b.n, b.said/b.n, b.was/b.n)
			off += math.Abs(b.said-b.was) / float64(len(held))
		}
	}
	t.Logf("held out: %d hits, Brier %.3f (always saying %.2f: %.3f), calibration error %.3f", len(held), brier, base, base*(1-base), off)
	if brier > 0.75*base*(1-base) || off > 0.08 {
		t.Error("the probabilities are not what they say")
	}

	ways := []struct {
		name  string
		order func(hits []Hit) []Hit
		sum   float64
	}{
		{"calibrated", func(h []Hit) []Hit { placed(h); rankHits(h); return foldAlike(h, 10) }, 0},
		{"raw scores", func(h []Hit) []Hit {
			slices.SortStableFunc(h, func(a, b Hit) int { return cmp.Compare(b.RelevanceScore, a.RelevanceScore) })
			return h
		}, 0},
		{"round robin", roundRobin, 0},
	}
	n := 0.0
	places := map[string][2]int{} // of the first ten and of what is meant, by kind
	for i, judged := range searches {
		if i%2 != 1 || len(judged.meant) == 0 {
			continue
		}
		r, err := s.check(reader(), Query{Query: judged.query, Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		s.weigh(t.Context(), r)
		found, err := s.ask(reader(), r)
		if err != nil {
			t.Fatal(err)
		}
		var hits []Hit
		for _, f := range found {
			hits = append(hits, f.hits...)
		}
		n++
		for w := range ways {
			var ids []string
			for _, hit := range ways[w].order(slices.Clone(hits)) {
				ids = append(ids, hit.ID)
			}
			ways[w].sum += gain(ids, judged.meant)
			if w == 0 {
				for _, f := range found {
					p := places[f.Kind]
					for _, hit := range f.hits {
						if i := slices.Index(ids, hit.ID); i >= 0 && i < len(judged.meant) {
							p[0]++
						}
						if slices.Contains(judged.meant, hit.ID) {
							p[1]++
						}
					}
					places[f.Kind] = p
				}
			}
		}
	}
	for _, way := range ways {
		t.Logf("%s: nDCG@10 %.3f over %.0f searches", way.name, way.sum/n, n)
	}
	for _, kind := range Kinds() {
		t.Logf("%s: %d among the first, %d meant", kind, places[kind][0], places[kind][1])
	}
	if ways[0].sum < 1.05*ways[1].sum || ways[0].sum < 1.05*ways[2].sum {
		t.Error("calibrated hits rank no better than raw scores or taking turns")
	}
}

// roundRobin takes turns: the best of each kind, then the second of each.
func roundRobin(hits []Hit) []Hit {
	of := map[string][]Hit{}
	for _, h := range hits {
		of[h.Kind] = append(of[h.Kind], h)
	}
	var list []Hit
	for i := range 10 {
		for _, kind := range Kinds() {
			if i < len(of[kind]) {
				list = append(list, of[kind][i])
			}
		}
	}
	return list
}

// placed puts hits where they are likely to be what was meant: no project is preferred.
func placed(hits []Hit) {
	for i := range hits {
		hits[i].place = hits[i].Relevance
	}
}
