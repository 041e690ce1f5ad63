package tfidf_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/skillrouter/skillrouter/tfidf"
	"github.com/skillrouter/skillrouter/tfidf/text"
)

// over makes the corpus of several indexes for a query.
func over(query string, indexes ...*tfidf.Index) *tfidf.Corpus {
	words, whole := text.QueryTerms(query)
	stems, c := append(words, whole...), &tfidf.Corpus{}
	for _, ix := range indexes {
		frequencies, docs := ix.Frequencies(stems)
		c.Add(stems, frequencies, docs)
	}
	return c
}

func TestEvidenceComparesBetweenIndexes(t *testing.T) {
	small, large := tfidf.New(tfidf.Options{}), tfidf.New(tfidf.Options{})
	small.Put(tfidf.Document{ID: "weak", Body: "the gateway"}, tfidf.Document{ID: "other", Body: "lunch menu"})
	for i := range 300 {
		large.Put(tfidf.Document{ID: fmt.Sprint(i), Body: "the gateway of customer number " + fmt.Sprint(i)})
	}
	large.Put(tfidf.Document{ID: "strong", Body: "gateway certificate expired"})
	const query = "gateway certificate expired"
	c := over(query, small, large)
	weak := small.Search(tfidf.Query{Text: query, Corpus: c}).Hits[0]
	strong := large.Search(tfidf.Query{Text: query, Corpus: c}).Hits[0]
	if strong.ID != "strong" || weak.ID != "weak" {
		t.Fatalf("found %s and %s", strong.ID, weak.ID)
	}
	if weak.Evidence.Words >= strong.Evidence.Words/2 || weak.Evidence.Mass >= strong.Evidence.Mass/2 {
		t.Errorf("a word that most have counts %+v, all three %+v", weak.Evidence, strong.Evidence)
	}
	for _, hit := range large.Search(tfidf.Query{Text: query, Corpus: c, Limit: 100}).Hits {
		e := hit.Evidence
		for name, x := range map[string]float64{"words": e.Words, "whole": e.Compounds, "letters": e.Letters, "near": e.Near, "best": e.Best} {
			if math.IsNaN(x) || x < 0 || x > 1 {
				t.Fatalf("%s of %s is %v", name, hit.ID, x)
			}
		}
	}
	if e := large.Search(tfidf.Query{Text: query}).Hits[0].Evidence; e != (tfidf.Evidence{}) {
		t.Errorf("evidence %+v was computed for nobody", e)
	}
}

func TestExactDependsOnNoOtherDocument(t *testing.T) {
	alone, among := tfidf.New(tfidf.Options{}), tfidf.New(tfidf.Options{})
	mine := tfidf.Document{ID: "mine", Body: "the launch is on friday", Tags: []string{"me"}}
	alone.Put(mine)
	among.Put(mine, tfidf.Document{ID: "theirs", Body: "the lunch frobnicates", Tags: []string{"them"}})
	for _, query := range []string{"launch friday", "lunch", "launhc", "frobnicate", "frobnicates launch"} {
		c := over(query, alone)
		a := alone.Search(tfidf.Query{Text: query, Tags: []string{"me"}, Corpus: c, Exact: true})
		b := among.Search(tfidf.Query{Text: query, Tags: []string{"me"}, Corpus: c, Exact: true})
		if len(a.Corrected)+len(b.Corrected)+len(a.Unknown)+len(b.Unknown) > 0 {
			t.Errorf("%q tells of words: %+v %+v", query, a, b)
		}
		if len(a.Hits) != len(b.Hits) || len(a.Hits) > 0 && a.Hits[0].Evidence != b.Hits[0].Evidence {
			t.Errorf("%q finds %+v alone and %+v among others", query, a.Hits, b.Hits)
		}
	}
	if hits := among.Search(tfidf.Query{Text: "launhc"}).Hits; len(hits) == 0 {
		t.Error("without Exact a misspelt word finds nothing: the test shows nothing")
	}
}

func TestRelax(t *testing.T) {
	ix := tfidf.New(tfidf.Options{})
	ix.Put(tfidf.Document{ID: "1", Body: "kubernetes eviction policy of the deployment"}, tfidf.Document{ID: "2", Body: "lunch"})
	for word, want := range map[string]string{
		"kube": "kubernetes", "deploymentconfig": "deployment", "zzzzzz": "", "99": "",
	} {
		got := ix.Relax(word)[word]
		if got != want {
			t.Errorf("%q is relaxed to %q, want %q", word, got, want)
		}
	}
	for _, hostile := range []string{"", "\x00", "\xff\xfe", "💥💥💥", strings.Repeat("unknownword ", 10_000), strings.Repeat("x", 1<<20), "שלום עולם", "!!! ---"} {
		ix.Relax(hostile)
	}
}
