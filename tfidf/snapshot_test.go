package tfidf_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"skillrouter/tfidf"
	"skillrouter/tfidf/text"
)

// reopened saves an index and opens what was saved.
func reopened(t testing.TB, ix *tfidf.Index) *tfidf.Index {
	t.Helper()
	path, mark := filepath.Join(t.TempDir(), "index"), []byte("seq 7")
	if err := ix.Capture().Save(path, mark); err != nil {
		t.Fatal(err)
	}
	opened, got, err := tfidf.Open(path, tfidf.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, mark) {
		t.Fatalf("the mark is %q, want %q", got, mark)
	}
	return opened
}

// same holds that two indexes hold the same documents and answer alike.
func same(t rapid.TB, got, want *tfidf.Index, queries []tfidf.Query) {
	t.Helper()
	for _, ix := range []*tfidf.Index{got, want} {
		if err := ix.Check(); err != nil {
			t.Fatal(err)
		}
	}
	a, b := got.IDs(), want.IDs()
	slices.Sort(a)
	slices.Sort(b)
	if !slices.Equal(a, b) || got.Len() != want.Len() {
		t.Fatalf("%d documents, want %d: %s", got.Len(), want.Len(), cmp.Diff(b, a))
	}
	for _, q := range queries {
		q.Explain = true
		g, w := got.Search(q), want.Search(q)
		if diff := cmp.Diff(w, g); diff != "" {
			t.Fatalf("%+v: %s", q, diff)
		}
		if diff := cmp.Diff(got.SearchExhaustive(q), g); diff != "" {
			t.Fatalf("%+v: the pruned search differs from the exhaustive one: %s", q, diff)
		}
		terms := text.Terms(q.Text)
		gf, gn := got.Frequencies(terms)
		wf, wn := want.Frequencies(terms)
		if !slices.Equal(gf, wf) || gn != wn {
			t.Fatalf("%v occur %v of %d, want %v of %d", terms, gf, gn, wf, wn)
		}
	}
}

func TestSnapshot(t *testing.T) {
	for name, n := range map[string]int{"empty": 0, "a tail": 40, "segments and a tail": 3000} {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, uint64(n)))
			docs := corpus(rng, n, 40)
			ix := tfidf.New(tfidf.Options{})
			for part := range slices.Chunk(docs, 300) {
				ix.Put(part...)
			}
			for i := range n / 5 {
				ix.Delete(docs[i*3].ID)
			}
			var queries []tfidf.Query
			for i := range min(n, 30) {
				d := docs[rng.IntN(n)]
				queries = append(queries, tfidf.Query{Text: d.Title, Limit: 1 + i}, tfidf.Query{Text: d.Body, Project: d.Project}, tfidf.Query{Text: d.Title + "x", Tags: d.Tags})
			}
			opened := reopened(t, ix)
			same(t, opened, ix, queries)
			again := reopened(t, opened)
			same(t, again, ix, queries)
			for _, i := range []*tfidf.Index{ix, opened, again} {
				i.Put(docs[:n/2]...)
				i.Put(tfidf.Document{ID: "new", Title: "kalo mine newest", Body: fmt.Sprintf("%0300d aVeryLongIdentifierThatDoesNotFitItsEntry", 7)})
				i.Delete("absent")
			}
			queries = append(queries, tfidf.Query{Text: "newest"}, tfidf.Query{Text: "aVeryLongIdentifierThatDoesNotFitItsEntry"})
			same(t, opened, ix, queries)
			same(t, again, ix, queries)
			same(t, reopened(t, again), ix, queries)
		})
	}
}

func TestOpenNothing(t *testing.T) {
	_, _, err := tfidf.Open(filepath.Join(t.TempDir(), "none"), tfidf.Options{})
	if !errors.Is(err, tfidf.ErrSnapshot) || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("opening nothing: %v", err)
	}
}
