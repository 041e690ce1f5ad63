package keep_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/skillrouter/skillrouter/tfidf/keep"
)

// news are the ids that the log tells of behind a record, each once, and how many records there are.
func (s *shelf) news(after int) (ids []string, at int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ids = slices.Clone(s.log[after:])
	slices.Sort(ids)
	return slices.Compact(ids), len(s.log)
}

// TestFollowedIndexIsThatOfTheWriter: an index that follows the log of another process has what is stored, whatever was written in which order, while it is read at the
// start or later.
func TestFollowedIndexIsThatOfTheWriter(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		s := newShelf(rapid.IntRange(0, 1400).Draw(r, "stored"))
		k := keep.New(s, keep.Options{Name: "shelf"})
		write := func() {
			for range rapid.IntRange(0, 20).Draw(r, "writes") {
				switch i := rapid.IntRange(0, 800).Draw(r, "which"); {
				case i%3 == 0:
					s.remove(fmt.Sprint("e", i))
				default:
					s.write(entry(i, "flaky kubelet"))
				}
			}
		}
		_, at := s.news(0)
		if err := k.Load(t.Context()); err != nil {
			r.Fatal(err)
		}
		write()
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { _ = k.Run(ctx) })
		for range 4 {
			var changed []string
			changed, at = s.news(at)
			if err := k.Follow(t.Context(), changed); err != nil {
				r.Fatal(err)
			}
			write()
		}
		changed, _ := s.news(at)
		if err := k.Follow(t.Context(), changed); err != nil {
			r.Fatal(err)
		}
		for !k.Complete() {
			select {
			case <-t.Context().Done():
				r.Fatal("it is never whole")
			default:
			}
		}
		s.check(t, k)
		stop()
		running.Wait()
	})
}
