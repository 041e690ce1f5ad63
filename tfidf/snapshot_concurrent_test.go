package tfidf_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"skillrouter/tfidf"
)

// TestSaveWhileBusy saves and opens an index over and over while others search
// it and change it: every snapshot is whole, and the index ends as it should.
func TestSaveWhileBusy(t *testing.T) {
	folder := t.TempDir()
	docs := corpus(rand.New(rand.NewPCG(7, 7)), 2000, 20)
	first := tfidf.New(tfidf.Options{})
	first.Put(docs[:1000]...)
	ix := reopened(t, first)
	ctx, stop := context.WithCancel(t.Context())
	var beside, writers sync.WaitGroup
	beside.Go(func() {
		if err := ix.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	for range 2 {
		beside.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				d := docs[i%len(docs)]
				ix.Search(tfidf.Query{Text: d.Title + " kalx", Explain: true})
				ix.Search(tfidf.Query{Text: d.Body, Project: d.Project})
				ix.Frequencies([]string{"kalo"})
				ix.IDs()
			}
		})
	}
	writers.Go(func() {
		for part := range slices.Chunk(docs[1000:], 50) {
			ix.Put(part...)
		}
	})
	writers.Go(func() {
		for _, d := range docs[:300] {
			ix.Delete(d.ID)
		}
	})
	writers.Go(func() {
		for i := range 12 {
			path := filepath.Join(folder, fmt.Sprint("index", i%2))
			if i%3 == 0 {
				ix.Compact()
			}
			capture := ix.Capture()
			if err := capture.Save(path, fmt.Append(nil, i)); err != nil {
				t.Error(err)
				return
			}
			opened, mark, err := tfidf.Open(path, tfidf.Options{})
			if err != nil || string(mark) != fmt.Sprint(i) {
				t.Errorf("opening what was saved: %q, %v", mark, err)
				return
			}
			if err := opened.Check(); err != nil {
				t.Errorf("snapshot %d: %v", i, err)
			}
			opened.Put(tfidf.Document{ID: "aside", Body: "in this one only"})
			runtime.GC() // what nothing holds is unmapped
		}
	})
	writers.Wait()
	stop()
	beside.Wait()
	fresh := tfidf.New(tfidf.Options{})
	fresh.Put(docs[300:]...)
	var queries []tfidf.Query
	for _, d := range docs[:20] {
		queries = append(queries, tfidf.Query{Text: d.Title}, tfidf.Query{Text: d.Body, Category: d.Category})
	}
	same(t, ix, fresh, queries)
}

// TestOpenTwice opens one file twice: what is changed in one index is in neither the other nor the file.
func TestOpenTwice(t *testing.T) {
	whole := savedBytes(t, 600)
	path := filepath.Join(t.TempDir(), "index")
	a, err := openBytes(t, path, whole)
	if err != nil {
		t.Fatal(err)
	}
	b, _, err := tfidf.Open(path, tfidf.Options{})
	if err != nil {
		t.Fatal(err)
	}
	before := b.Search(tfidf.Query{Text: "kalo mine"})
	a.Delete(a.IDs()...)
	a.Put(tfidf.Document{ID: "only", Body: "kalo mine"})
	if got := found(a.Search(tfidf.Query{Text: "kalo"})); got != "only" {
		t.Errorf("the one finds %q", got)
	}
	if got := b.Search(tfidf.Query{Text: "kalo mine"}); found(got) != found(before) || b.Check() != nil {
		t.Errorf("the other finds %q, and found %q before", found(got), found(before))
	}
	if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, whole) {
		t.Errorf("the file is another than it was: %v", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if got := b.Search(tfidf.Query{Text: "kalo mine"}); found(got) != found(before) {
		t.Errorf("without its file it finds %q", found(got))
	}
}

// TestUnmapped holds that the memory of a file is given back when nothing
// reaches it any more, and that an index which saved itself has little of its own.
func TestUnmapped(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("it reads /proc/self/maps")
	}
	mapped := func(path string) bool {
		maps, err := os.ReadFile("/proc/self/maps")
		if err != nil {
			t.Fatal(err)
		}
		return strings.Contains(string(maps), path)
	}
	path := filepath.Join(t.TempDir(), "index")
	ix, err := openBytes(t, path, savedBytes(t, 600))
	if err != nil {
		t.Fatal(err)
	}
	if !mapped(path) {
		t.Fatal("the file is not mapped")
	}
	hits := ix.Search(tfidf.Query{Text: "kalo mine"}).Hits
	runtime.KeepAlive(ix)
	ix = nil
	for range 1000 {
		runtime.GC()
		if !mapped(path) {
			if !strings.HasPrefix(hits[0].ID, "d") {
				t.Errorf("a hit is %q after its index is gone", hits[0].ID)
			}
			return
		}
	}
	t.Error("the file is mapped for ever")
}

func TestSaveFreesMemory(t *testing.T) {
	before := heap()
	ix := tfidf.New(tfidf.Options{})
	ix.Put(corpus(rand.New(rand.NewPCG(8, 8)), 20_000, 60)...)
	built := heap() - before
	if err := ix.Capture().Save(filepath.Join(t.TempDir(), "index"), nil); err != nil {
		t.Fatal(err)
	}
	saved := heap() - before
	if saved > built*2/3 { // the words and the tables stay
		t.Errorf("%d bytes on the heap, and %d after saving", built, saved)
	}
	if err := ix.Check(); err != nil {
		t.Error(err)
	}
}

// TestCompact leaves one segment of many, and copies a large one only when the
// small ones beside it have become as much as a part of it.
func TestCompact(t *testing.T) {
	ix := tfidf.New(tfidf.Options{})
	docs := corpus(rand.New(rand.NewPCG(9, 9)), 6000, 10)
	for part := range slices.Chunk(docs[:5000], 300) {
		ix.Put(part...)
	}
	before := len(ix.Segments())
	ix.Compact()
	if got := ix.Segments(); before < 2 || len(got) != 1 {
		t.Errorf("%d segments became %v", before, got)
	}
	ix.Put(docs[5000:5300]...)
	ix.Put(docs[5300:5600]...)
	ix.Compact()
	if got := ix.Segments(); len(got) != 2 || got[0] < 4700 {
		t.Errorf("small ones beside a large one: %v", got)
	}
	if err := ix.Check(); err != nil {
		t.Error(err)
	}
}

// TestSharedTerm indexes tiny documents that all hold one term, saves and opens them, and deletes half.
func TestSharedTerm(t *testing.T) {
	n := 100_000
	if testing.Short() {
		n = 20_000
	}
	docs := make([]tfidf.Document, n)
	for i := range docs {
		docs[i] = tfidf.Document{ID: fmt.Sprint(i), Body: "shared"}
	}
	docs[7].Body = "shared rare"
	ix := tfidf.New(tfidf.Options{})
	ix.Put(docs...)
	opened := reopened(t, ix)
	if err := opened.Check(); err != nil {
		t.Fatal(err)
	}
	for i := 0; i < n; i += 2 {
		opened.Delete(docs[i].ID)
	}
	opened = reopened(t, opened)
	if err := opened.Check(); err != nil || opened.Len() != n/2 {
		t.Fatalf("%d documents of %d: %v", opened.Len(), n, err)
	}
	r := opened.Search(tfidf.Query{Text: "rare shared", Limit: 5})
	if len(r.Hits) != 5 || r.Hits[0].ID != "7" {
		t.Errorf("found %q", found(r))
	}
	if frequencies, documents := opened.Frequencies([]string{"share"}); frequencies[0] != n/2 || documents != n/2 {
		t.Errorf("it occurs in %v of %d documents", frequencies, documents)
	}
}
