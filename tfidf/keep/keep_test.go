package keep_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skillrouter/skillrouter/tfidf"
	"github.com/skillrouter/skillrouter/tfidf/keep"
)

// shelf is a Source in memory, and what writes to it. Its commits put into its
// Keeper in their order.
type shelf struct {
	mu     sync.Mutex
	keeper *keep.Keeper
	docs   map[string]tfidf.Document
	log    []string // the subject of each record; empty: it does not say
	name   string   // tells this log from others
	fail   error    // of Scan and Documents
	scans  int
	during func() // runs while a scan has read and not yet handed over
}

func newShelf(n int) *shelf {
	s := &shelf{docs: map[string]tfidf.Document{}, name: "a"}
	for i := range n {
		s.write(entry(i, "flaky tests"))
	}
	return s
}

func entry(i int, about string) tfidf.Document {
	return tfidf.Document{ID: fmt.Sprint("e", i), Title: fmt.Sprintf("entry %d", i), Body: about, Order: int64(i + 1)}
}

func (s *shelf) write(d tfidf.Document) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.docs[d.ID] = d
	s.log = append(s.log, d.ID)
	if s.keeper != nil {
		s.keeper.Put(d)
	}
}

func (s *shelf) remove(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.docs, id)
	s.log = append(s.log, id)
	if s.keeper != nil {
		s.keeper.Delete(id)
	}
}

// keep makes a Keeper, as a start does; the one before it is told of nothing more.
func (s *shelf) keep() *keep.Keeper {
	k := keep.New(s, keep.Options{Name: "shelf"})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keeper = k
	return k
}

func (s *shelf) Documents(_ context.Context, ids []string) ([]tfidf.Document, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var docs []tfidf.Document
	for _, id := range ids {
		if d, ok := s.docs[id]; ok {
			docs = append(docs, d)
		}
	}
	return docs, s.fail
}

func (s *shelf) sorted() []tfidf.Document {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.SortedFunc(maps.Values(s.docs), func(a, b tfidf.Document) int { return int(a.Order - b.Order) })
}

func (s *shelf) Scan(ctx context.Context, visit func([]tfidf.Document) error) error {
	s.mu.Lock()
	s.scans++
	fail, during := s.fail, s.during
	s.fail = nil // the next attempt succeeds
	s.mu.Unlock()
	if fail != nil {
		return fail
	}
	docs := s.sorted()
	if during != nil {
		during()
	}
	for part := range slices.Chunk(docs, 100) {
		if err := visit(part); err != nil {
			return err
		}
	}
	return ctx.Err()
}

func (s *shelf) Count(context.Context) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.docs), nil
}

// check compares what the keeper has with what is stored, by ids and by a search.
func (s *shelf) check(t *testing.T, k *keep.Keeper) {
	t.Helper()
	got, want := k.Index().IDs(), slices.Collect(maps.Keys(s.docs))
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Fatalf("the index has %v, stored are %v", got, want)
	}
	fresh := tfidf.New(tfidf.Options{})
	fresh.Put(s.sorted()...)
	query := tfidf.Query{Text: "flaky kubelet entry 7", Limit: 50}
	found, notice := k.Search(t.Context(), query)
	if notice != "" {
		t.Errorf("a whole index says %q", notice)
	}
	if want := fresh.Search(query); fmt.Sprint(found.Hits) != fmt.Sprint(want.Hits) {
		t.Errorf("found %v, a fresh index finds %v", found.Hits, want.Hits)
	}
}

func TestSearchWaitsForManyToBeRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf(3000)
		s.write(entry(3000, "the kubelet was evicted"))
		k := s.keep()
		if err := k.Load(t.Context()); err != nil {
			t.Fatal(err)
		}
		if state := k.State(); state.Stage != keep.Rebuilding || state.Documents != 0 {
			t.Errorf("after a load of many: %+v", state)
		}
		s.write(entry(3001, "the kubelet came back"))
		query := tfidf.Query{Text: "kubelets evicted"}
		begin := time.Now()
		found, notice := k.Search(t.Context(), query) // nobody reads
		if len(found.Hits) != 1 || found.Hits[0].ID != "e3001" || !strings.Contains(notice, "being rebuilt, 0 % read") {
			t.Errorf("while nothing was read: %v, %q", found.Hits, notice)
		}
		if waited := time.Since(begin); waited != 2*time.Second {
			t.Errorf("it waited %s", waited)
		}
		hits := make(chan []tfidf.Hit)
		go func() {
			found, notice := k.Search(t.Context(), query)
			if notice != "" {
				t.Errorf("notice %q", notice)
			}
			hits <- found.Hits
		}()
		synctest.Wait()
		run(t, k)
		if found := <-hits; len(found) != 2 || found[0].ID != "e3000" || found[1].ID != "e3001" {
			t.Errorf("who waited found %v", found)
		}
		s.check(t, k)
	})
}

func TestKeeperOfFewIsCompleteAtOnce(t *testing.T) {
	s := newShelf(300)
	k := s.keep()
	if err := k.Load(t.Context()); err != nil || !k.Complete() || k.Notice() != "" {
		t.Errorf("%v, %+v", err, k.State())
	}
	s.check(t, k)
}

func TestKeeperOfNothingIsCompleteAtOnce(t *testing.T) {
	s := newShelf(0)
	k := s.keep()
	if err := k.Load(t.Context()); err != nil || !k.Complete() || k.Notice() != "" {
		t.Errorf("%v, %+v", err, k.State())
	}
	s.write(entry(0, "flaky"))
	s.check(t, k)
}

func TestKeeperTriesAgainWhatFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf(3000)
		s.fail = errors.New("the disk is gone")
		k := s.keep()
		if err := k.Load(t.Context()); err != nil {
			t.Fatal(err)
		}
		run(t, k)
		synctest.Wait()
		if state := k.State(); state.Failed != "the disk is gone" || state.Stage != keep.Rebuilding {
			t.Errorf("after a failure: %+v", state)
		}
		begin := time.Now()
		if _, notice := k.Search(t.Context(), tfidf.Query{Text: "flaky"}); notice == "" || time.Since(begin) != 0 {
			t.Errorf("after a failure a search waited %s, and says %q", time.Since(begin), notice)
		}
		await(t, k)
		if s.scans != 2 || k.State().Failed != "" {
			t.Errorf("%d scans, %+v", s.scans, k.State())
		}
		s.check(t, k)
	})
}

func TestWhatIsCommittedDuringARebuildWins(t *testing.T) {
	s := newShelf(500)
	k := s.keep()
	s.during = func() {
		s.remove("e7")
		s.write(entry(8, "kubelet"))
		s.write(entry(500, "kubelet"))
		s.write(entry(501, "kubelet"))
		s.remove("e501")
	}
	if err := k.Rebuild(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.check(t, k)
	s.during = nil
	if err := k.Rebuild(t.Context()); err != nil { // over a full index
		t.Fatal(err)
	}
	s.check(t, k)
}

// run runs the keeper until the test ends.
func run(t *testing.T, k *keep.Keeper) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- k.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func await(t *testing.T, k *keep.Keeper) {
	t.Helper()
	if err := k.Await(t.Context()); err != nil {
		t.Fatal(err)
	}
}
