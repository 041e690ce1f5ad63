package keep_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"skillrouter/tfidf/keep"
)

// news are the ids that the log tells of behind a place, each once, and the place behind them.
func (s *shelf) news(after keep.Position) (ids []string, at keep.Position) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ids = slices.Clone(s.log[after.Seq:])
	slices.Sort(ids)
	return slices.Compact(ids), s.position()
}

// TestFollowedIndexIsThatOfTheWriter: an index that follows the log of another process has what is stored, whatever was written in which order, while it is read at the
// start or later; and its snapshot is of the place up to where it followed.
func TestFollowedIndexIsThatOfTheWriter(t *testing.T) {
	dir := t.TempDir()
	round := 0
	rapid.Check(t, func(r *rapid.T) {
		round++
		s := newShelf(rapid.IntRange(0, 700).Draw(r, "stored"))
		path := filepath.Join(dir, fmt.Sprint(round))
		k := keep.New(s, keep.Options{Path: path, Form: "shelf 1", Follows: true})
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
		_, at := s.news(keep.Position{})
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
			if err := k.Follow(t.Context(), changed, at); err != nil {
				r.Fatal(err)
			}
			write()
		}
		changed, last := s.news(at)
		if err := k.Follow(t.Context(), changed, last); err != nil {
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
		if err := k.Save(t.Context()); err != nil {
			r.Fatal(err)
		}
		stop()
		running.Wait()
		again := keep.New(s, keep.Options{Path: path, Form: "shelf 1"})
		s.told = 0
		if err := again.Load(t.Context()); err != nil {
			r.Fatal(err)
		}
		if s.told > 0 {
			r.Fatalf("the snapshot does not hold up to where it followed: %d records were read again", s.told)
		}
		s.check(t, again)
	})
}
