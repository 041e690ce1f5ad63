package tfidf_test

import (
	"fmt"
	"testing"

	"github.com/skillrouter/skillrouter/tfidf"
)

// TestBounds asks for documents between two moments, with and without other
// filters, from segments and from the tail: those within are found however many
// better ones lie outside.
func TestBounds(t *testing.T) {
	const docs = 20_000 // over what is gathered for a narrow filter, and several segments
	ix := tfidf.New(tfidf.Options{})
	batch := make([]tfidf.Document, docs)
	for i := range batch {
		body := "the cache of the server was cleared"
		if i >= 10_000 && i < 10_005 {
			body = "somewhere in a long report about many other things a cache is named once, after all that the server did"
		}
		batch[i] = tfidf.Document{ID: fmt.Sprint(i), Title: "cache", Body: body, At: int64(i) + 1, Order: int64(i), Tags: []string{"all", fmt.Sprint("mod", i%2)}}
	}
	ix.Put(batch...)
	ix.Put(tfidf.Document{ID: "tail", Title: "cache", Body: "the latest", At: docs + 1, Order: docs})
	for name, test := range map[string]struct {
		query tfidf.Query
		want  int
	}{
		"both ends":          {tfidf.Query{From: 10_001, To: 10_006}, 5},
		"with a wide tag":    {tfidf.Query{From: 10_001, To: 10_006, Tags: []string{"all"}}, 5},
		"with a narrow tag":  {tfidf.Query{From: 10_001, To: 10_006, Tags: []string{"mod0"}}, 3},
		"from on":            {tfidf.Query{From: docs}, 2},
		"up to, without it":  {tfidf.Query{To: 4}, 3},
		"nothing lies there": {tfidf.Query{From: 5, To: 5}, 0},
		"before them all":    {tfidf.Query{To: -1}, 0},
		"no bounds":          {tfidf.Query{}, tfidf.MaxLimit},
	} {
		t.Run(name, func(t *testing.T) {
			test.query.Text, test.query.Limit = "cache", tfidf.MaxLimit
			if hits := ix.Search(test.query).Hits; len(hits) != test.want {
				t.Errorf("%d hits, want %d", len(hits), test.want)
			}
		})
	}
}
