package learning_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"skillrouter"
	"skillrouter/learning"
)

// TestFactClear clears more facts than one step deletes, and holds every way of asking to it.
func TestFactClear(t *testing.T) {
	clock := newHandClock()
	facts, m := openFacts(t, t.TempDir(), clock.now)
	ctx := skillrouter.WithPrincipal(t.Context(), skillrouter.Open())
	remember := func(persona, category, key string, ttl int64) {
		t.Helper()
		_, err := facts.Remember(ctx, learning.FactDraft{Persona: persona, Category: category, Key: key, Value: json.RawMessage(`1`), TTL: &ttl})
		if err != nil {
			t.Fatal(err)
		}
	}
	const many = 450 // two whole steps and a bit
	for i := range many {
		remember("coder", "schemas", fmt.Sprintf("s/%d", i), 0)
	}
	remember("coder", "other", "stays", 0)
	remember("coder", "schemas", "expired", 1)
	remember("default", "schemas", "s/1", 0)
	clock.advance(2 * time.Second)
	if _, err := facts.Recall(ctx, learning.FactRef{Persona: "coder", Key: "s/7"}); err != nil { // it is in memory now
		t.Fatal(err)
	}
	lease, err := facts.Lease(ctx, learning.CacheRequest{Persona: "coder", Key: "expired"})
	if err != nil || lease.Status != learning.CacheLeased {
		t.Fatalf("%+v, %v", lease, err)
	}

	if n, err := facts.Clear(ctx, "coder", "schemas", 100); err != nil || n > 100 || n < 99 {
		t.Fatalf("a bounded call deleted %d, %v", n, err)
	}
	n, err := facts.Clear(ctx, "coder", "schemas", 10_000)
	if err != nil || n > many-99 || n < many-100 {
		t.Fatalf("the rest: deleted %d, %v", n, err)
	}
	if n, err := facts.Clear(ctx, "coder", "schemas", 10_000); err != nil || n != 0 {
		t.Errorf("again: deleted %d, %v", n, err)
	}
	for _, key := range []string{"s/7", "s/449", "expired"} {
		if _, err := facts.Recall(ctx, learning.FactRef{Persona: "coder", Key: key, StaleOK: true}); skillrouter.CodeOf(err) != skillrouter.NotFound {
			t.Errorf("%s: %v", key, err)
		}
	}
	page, err := facts.Search(ctx, learning.FactQuery{Persona: "coder", Pattern: "*"})
	if err != nil || page.Count != 1 || page.Facts[0].Key != "stays" {
		t.Errorf("%d facts are left, %v", page.Count, err)
	}
	if _, err := facts.Recall(ctx, learning.FactRef{Key: "s/1"}); err != nil {
		t.Errorf("another persona's: %v", err)
	}
	if _, err := facts.Complete(ctx, learning.CacheResult{Lease: lease.Lease, Value: json.RawMessage(`2`)}); skillrouter.CodeOf(err) != skillrouter.Conflict {
		t.Errorf("what was computed before the clearing was stored after it: %v", err)
	}
	deleted := 0
	events, err := m.store.Events(t.Context(), 0, 10_000)
	for _, e := range events {
		if e.Type == learning.EventFactDeleted {
			deleted++
		}
	}
	if err != nil || deleted != many+1 {
		t.Errorf("%d deletions were told of, %v", deleted, err)
	}
}

// TestFactClearSparesLaterFacts clears while others write: it ends, and nothing is lost
// that it does not count.
func TestFactClearSparesLaterFacts(t *testing.T) {
	facts, _ := openFacts(t, t.TempDir(), time.Now)
	ctx := skillrouter.WithPrincipal(t.Context(), skillrouter.Open())
	draft := func(key string) learning.FactDraft { return learning.FactDraft{Key: key, Value: json.RawMessage(`1`)} }
	for i := range 300 {
		if _, err := facts.Remember(ctx, draft(fmt.Sprint("old-", i))); err != nil {
			t.Fatal(err)
		}
	}
	ended := make(chan int64)
	go func() {
		n, err := facts.Clear(ctx, "", "", 1<<30)
		if err != nil {
			t.Error(err)
		}
		ended <- n
	}()
	written, cleared := 0, int64(-1)
	for cleared < 0 {
		if _, err := facts.Remember(ctx, draft(fmt.Sprint("new-", written))); err != nil {
			t.Fatal(err)
		}
		written++
		select {
		case cleared = <-ended:
		default:
		}
	}
	stats, err := facts.Stats(ctx)
	left := int64(0)
	for _, p := range stats.Personas {
		left += p.Facts
	}
	if err != nil || cleared < 300 || left != int64(300+written)-cleared {
		t.Errorf("%d written, %d cleared, %d left, %v", 300+written, cleared, left, err)
	}
}

func TestFactClearNeedsACaptain(t *testing.T) {
	facts, _ := openFacts(t, t.TempDir(), time.Now)
	agent := skillrouter.WithPrincipal(t.Context(), skillrouter.Principal{AgentID: "a", Scopes: []skillrouter.Scope{skillrouter.ScopeAgent}})
	if _, err := facts.Clear(agent, "", "", 10); skillrouter.CodeOf(err) != skillrouter.Forbidden {
		t.Errorf("an agent: %v", err)
	}
	open := skillrouter.WithPrincipal(t.Context(), skillrouter.Open())
	if _, err := facts.Clear(open, "../x", "", 10); skillrouter.CodeOf(err) != skillrouter.Invalid {
		t.Errorf("a persona that is a path: %v", err)
	}
}
