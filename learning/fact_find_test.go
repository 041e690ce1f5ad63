package learning_test

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/fact"
)

// finder asks the index of facts as a reader.
type finder struct {
	t     *testing.T
	ctx   context.Context
	facts *fact.Facts
}

func newFinder(t *testing.T, facts *fact.Facts) finder {
	p := principal.Principal{AgentID: "ops", Scopes: []principal.Scope{principal.ScopeCaptain}}
	return finder{t, principal.With(t.Context(), p), facts}
}

func (f finder) put(persona, key, value string, ttl int64) {
	f.t.Helper()
	raw, err := json.Marshal(value)
	if err != nil {
		f.t.Fatal(err)
	}
	if _, err := f.facts.Remember(f.ctx, fact.Draft{Persona: persona, Key: key, Value: raw, TTL: &ttl}); err != nil {
		f.t.Fatal(err)
	}
}

// want holds which keys are found by some words, in any order.
func (f finder) want(persona, query string, want ...string) {
	f.t.Helper()
	found, err := f.facts.Find(f.ctx, fact.Search{Persona: persona, Query: query})
	if err != nil {
		f.t.Fatal(err)
	}
	var got []string
	for _, fact := range found.Facts {
		got = append(got, fact.Key)
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		f.t.Errorf("%s asked for %q: %v, not %v", persona, query, got, want)
	}
}

func TestFactsAreFoundByTheirWords(t *testing.T) {
	clock := newHandClock()
	facts, _ := openFacts(t, t.TempDir(), clock.now)
	f := newFinder(t, facts)
	f.put("", "staging.gateway.url", "https://pay.example", 0)
	f.put("", "database.orders.columns", "customer and total", 60)
	f.put("nurse", "gateway.url", "https://nurse.example", 0)

	f.want("", "which url has the gateway", "staging.gateway.url")
	f.want("", "orders of a customer", "database.orders.columns")
	f.want("nurse", "gateway", "gateway.url")
	f.want("nobody", "gateway")
	f.want("", "noodles")

	raw := json.RawMessage(`"https://ledger.example"`)
	if _, err := facts.Update(f.ctx, fact.Ref{Key: "staging.gateway.url"}, fact.Patch{Value: raw}); err != nil {
		t.Fatal(err)
	}
	f.want("", "ledger", "staging.gateway.url")
	f.want("", "pay")

	clock.advance(61 * time.Second)
	f.want("", "orders of a customer") // expired, and not swept yet
	if _, err := facts.Sweep(f.ctx); err != nil {
		t.Fatal(err)
	}
	f.want("", "orders of a customer")
	f.put("", "database.orders.columns", "again", 60)
	f.want("", "orders", "database.orders.columns")

	if err := facts.Forget(f.ctx, fact.Ref{Key: "staging.gateway.url"}); err != nil {
		t.Fatal(err)
	}
	f.want("", "gateway")
	if _, err := facts.Clear(f.ctx, "nurse", "", 100); err != nil {
		t.Fatal(err)
	}
	f.want("nurse", "gateway")
}

func TestFactsFindRefuses(t *testing.T) {
	facts, _ := openFacts(t, t.TempDir(), newHandClock().now)
	f := newFinder(t, facts)
	for name, test := range map[string]struct {
		search fact.Search
		field  string
	}{
		"no words": {fact.Search{}, "query"},
		"persona":  {fact.Search{Persona: "../x", Query: "x"}, "persona"},
		"limit":    {fact.Search{Query: "x", Limit: learning.MaxLimit + 1}, "limit"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := facts.Find(f.ctx, test.search); errs.FieldOf(err) != test.field {
				t.Errorf("%v", err)
			}
		})
	}
	if _, err := facts.Find(t.Context(), fact.Search{Query: "x"}); errs.CodeOf(err) != errs.Forbidden {
		t.Errorf("nobody may: %v", err)
	}
}

// TestFactsAreFoundAfterARestart fills the index of another process over the
// same database, while facts are stored, changed and forgotten.
func TestFactsAreFoundAfterARestart(t *testing.T) {
	clock := newHandClock()
	facts, m := openFacts(t, t.TempDir(), clock.now)
	f := newFinder(t, facts)
	const many = 350 // more than one reading
	for i := range many {
		f.put(fmt.Sprintf("p%d", i%2), fmt.Sprintf("gateway.host.%d", i), fmt.Sprintf("word%dx", i), 0)
	}
	again := fact.NewFacts(m.store, learning.Options{Now: clock.now})
	g := newFinder(t, again)
	g.want("p0", "word8x") // nothing is read in yet
	g.put("p0", "gateway.host.8", "changedbefore", 0)
	if err := again.Forget(g.ctx, fact.Ref{Persona: "p1", Key: "gateway.host.9"}); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- again.RunIndex(ctx) }()
	defer func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	for begin := time.Now(); ; runtime.Gosched() {
		found, err := again.Find(g.ctx, fact.Search{Persona: "p0", Query: "gateway"})
		if err != nil {
			t.Fatal(err)
		}
		if !found.Reading {
			break
		}
		if time.Since(begin) > 30*time.Second {
			t.Fatal("the facts are still being read in")
		}
	}
	for i := range many {
		persona, key := fmt.Sprintf("p%d", i%2), fmt.Sprintf("gateway.host.%d", i)
		switch i {
		case 8:
			g.want(persona, "word8x")
			g.want(persona, "changedbefore", key)
		case 9:
			g.want(persona, "word9x")
		default:
			g.want(persona, fmt.Sprintf("word%dx", i), key)
		}
	}
	if _, stored := again.Frequencies([]string{"gateway"}); stored != many-1 {
		t.Errorf("%d facts are in the index, not %d", stored, many-1)
	}
}
