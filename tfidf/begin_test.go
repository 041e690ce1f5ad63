package tfidf_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/skillrouter/skillrouter/tfidf"
)

// TestWhatBeginsWithTheQuery asks with the first words of documents, of common words alone: what begins so is among
// the hits, whatever else has these words, unless more begin so than there are hits. Of the larger sizes more
// documents have the rarest word than are looked at one by one.
func TestWhatBeginsWithTheQuery(t *testing.T) {
	for _, size := range []int{300, 3_000, 24_000} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			random := rand.New(rand.NewPCG(uint64(size), 7))
			words := func(n int) []string {
				list := make([]string, n)
				for i := range list {
					list[i] = "word" + string(rune('a'+random.IntN(12)))
				}
				return list
			}
			index := tfidf.New(tfidf.Options{})
			title, body := make([][]string, size), make([][]string, size)
			deleted := func(i int) bool { return i%17 == 0 }
			for i := range size {
				if i%3 > 0 {
					title[i] = words(1 + random.IntN(7))
				}
				body[i] = words(8 + random.IntN(20))
				index.Put(tfidf.Document{
					ID: fmt.Sprint(i), Title: strings.Join(title[i], " "), Body: strings.Join(body[i], " "), Order: int64(i), Project: fmt.Sprint("p", i%2),
				})
			}
			for i := range size {
				if deleted(i) {
					index.Delete(fmt.Sprint(i))
				}
			}
			begins := func(list, query []string) bool {
				return len(list) >= len(query) && slices.Equal(list[:len(query)], query)
			}
			asked, most := 0, 0
			for range 60 {
				at := random.IntN(size)
				from := body[at]
				if len(title[at]) > 1 && random.IntN(2) == 0 {
					from = title[at]
				}
				query := from[:1+random.IntN(min(7, len(from)))]
				project := []string{"", fmt.Sprint("p", at%2)}[random.IntN(2)]
				var want []string
				for i := range size {
					if !deleted(i) && (project == "" || project == fmt.Sprint("p", i%2)) && (begins(title[i], query) || begins(body[i], query)) {
						want = append(want, fmt.Sprint(i))
					}
				}
				most = max(most, len(want))
				hits := index.Search(tfidf.Query{Text: strings.Join(query, " "), Limit: 10, Project: project, Corpus: &tfidf.Corpus{Docs: size}}).Hits
				var got []string
				for i, hit := range hits {
					if slices.Contains(want, hit.ID) {
						got = append(got, hit.ID)
					}
					if i > 0 && hit.Score > hits[i-1].Score {
						t.Errorf("%v: hit %d has %f after %f", query, i, hit.Score, hits[i-1].Score)
					}
					if slices.Contains(got, hit.ID) != hit.Evidence.Begins && len(query) > 2 {
						t.Errorf("%v: %s is told to begin so: %v", query, hit.ID, hit.Evidence.Begins)
					}
					if n, _ := fmt.Sscan(hit.ID, &at); n == 1 && hit.Evidence.Title != slices.Equal(title[at], query) {
						t.Errorf("%v: %v is told to be its whole title: %v", query, title[at], hit.Evidence.Title)
					}
				}
				if len(got) < min(len(want), 10) {
					t.Errorf("%v in %q: %d of %d that begin so are among %d hits", query, project, len(got), len(want), len(hits))
				}
				asked++
			}
			if most < 2 {
				t.Errorf("of %d queries none had two that begin with it", asked)
			}
		})
	}
}

// TestATitleOfCommonWordsIsRelevant asks by whole titles whose words stand everywhere.
func TestATitleOfCommonWordsIsRelevant(t *testing.T) {
	index := tfidf.New(tfidf.Options{})
	for i := range 200 {
		index.Put(tfidf.Document{ID: fmt.Sprint(i), Title: fmt.Sprint("Notes of the day ", i), Body: "We did what is to be done, or not; it is what it is to us."})
	}
	titles := []string{"To be or not to be", "It is what it is", "What is on and what is off"}
	for _, title := range titles {
		index.Put(tfidf.Document{ID: title, Title: title, Body: "Said by somebody."})
	}
	for _, title := range titles {
		hits := index.Search(tfidf.Query{Text: strings.ToLower(title), Corpus: &tfidf.Corpus{Docs: 203}}).Hits
		if len(hits) == 0 || hits[0].ID != title || hits[0].Evidence.Relevance() < 0.9 {
			t.Errorf("%q finds %+v first", title, hits[:min(len(hits), 1)])
		}
		if len(hits) > 1 && hits[1].Evidence.Relevance() > 0.5 {
			t.Errorf("%q: %+v is as relevant", title, hits[1])
		}
	}
}
