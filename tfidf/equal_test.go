package tfidf_test

import (
	"fmt"
	"testing"

	"github.com/skillrouter/skillrouter/tfidf"
)

// TestEqualDocuments puts many equal documents, with ids that
// ascend or fall: those with the lowest ids are found, and all with one score.
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

// TestCommonWordAlone finds documents by a word that nearly all have beside
// rarer ones, although it is worth next to nothing.
func TestCommonWordAlone(t *testing.T) {
	ix := tfidf.New(tfidf.Options{})
	var docs []tfidf.Document
	for i := range 400 {
		docs = append(docs, tfidf.Document{ID: fmt.Sprintf("%03d", i), Body: "shared " + word(uint64(i))})
	}
	ix.Put(docs...)
	text := "shared"
	for i := range 20 {
		text += " " + word(uint64(i))
	}
	if n := len(ix.Search(tfidf.Query{Text: text, Limit: 400}).Hits); n != 400 {
		t.Errorf("found %d of 400", n)
	}
}
