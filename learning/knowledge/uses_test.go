package knowledge_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/knowledge"
	"github.com/skillrouter/skillrouter/learning/shelf"
)

func TestUsesAreWrittenInBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kept := &useStore{}
		base := knowledge.NewBase(kept, learning.Options{})
		ctx := principal.With(t.Context(), principal.Open())
		if _, err := base.Store(ctx, knowledge.Draft{ID: "1", Category: "pattern", Title: "Entry", Content: "found"}); err != nil {
			t.Fatal(err)
		}
		search := func() {
			if r, err := base.Search(ctx, knowledge.Query{Query: "found"}); err != nil || r.Count != 1 {
				t.Fatalf("%+v, %v", r, err)
			}
		}
		running, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- base.Run(running) }()
		for range 10 {
			search()
		}
		synctest.Wait()
		if writes, _ := kept.written(); writes != 0 {
			t.Error("a search waited for a write of its use")
		}
		wait(11 * time.Second) // between two ticks: at one, the writer and this test run in any order
		if writes, count := kept.written(); writes != 1 || count != 10 {
			t.Errorf("after a while: %d writes of %d uses, want one of 10", writes, count)
		}
		kept.breaks(errors.New("full"))
		search()
		wait(10 * time.Second)
		kept.breaks(nil)
		search()
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if writes, count := kept.written(); writes != 2 || count != 12 {
			t.Errorf("after a failure and the end: %d writes of %d uses, want two of 12", writes, count)
		}
	})
}

// useStore is a knowledge.Store in memory that notes the writing of uses.
type useStore struct {
	knowledge.Store
	mu      sync.Mutex
	entries map[string]knowledge.Knowledge
	uses    map[string]shelf.Use
	writes  int
	fail    error
}

func (s *useStore) ChangeKnowledge(_ context.Context, _ knowledge.Keys, decide func(knowledge.Found) (knowledge.Change, error), after func()) func() error {
	change, err := decide(knowledge.Found{})
	s.entries = map[string]knowledge.Knowledge{}
	for _, record := range change.Insert {
		s.entries[record.ID] = record.Knowledge
	}
	after()
	return func() error { return err }
}

func (s *useStore) Knowledge(_ context.Context, ids []string) ([]knowledge.Knowledge, error) {
	var out []knowledge.Knowledge
	for _, id := range ids {
		out = append(out, s.entries[id])
	}
	return out, nil
}

func (s *useStore) AddUse(_ context.Context, uses map[string]shelf.Use) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail != nil {
		return s.fail
	}
	s.writes++
	if s.uses == nil {
		s.uses = map[string]shelf.Use{}
	}
	for id, use := range uses {
		old := s.uses[id]
		s.uses[id] = shelf.Use{Count: old.Count + use.Count, Last: use.Last}
	}
	return nil
}

// written returns how many writes there were, and the uses of the entry 1.
func (s *useStore) written() (writes int, count int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.writes, s.uses["1"].Count
}

func (s *useStore) breaks(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail = err
}

// wait lets virtual time pass.
func wait(d time.Duration) { <-time.After(d) }
