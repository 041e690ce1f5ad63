package learning_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning/episode"
	"github.com/skillrouter/skillrouter/learning/experience"
	"github.com/skillrouter/skillrouter/learning/fact"
	"github.com/skillrouter/skillrouter/learning/lesson"
	"github.com/skillrouter/skillrouter/learning/procedure"
)

// TestFactClear clears more facts than one step deletes, and holds every way of asking to it.
func TestFactClear(t *testing.T) {
	clock := newHandClock()
	facts, m := openFacts(t, t.TempDir(), clock.now)
	ctx := principal.With(t.Context(), principal.Open())
	remember := func(persona, category, key string, ttl int64) {
		t.Helper()
		_, err := facts.Remember(ctx, fact.Draft{Persona: persona, Category: category, Key: key, Value: json.RawMessage(`1`), TTL: &ttl})
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
	if _, err := facts.Recall(ctx, fact.Ref{Persona: "coder", Key: "s/7"}); err != nil { // it is in memory now
		t.Fatal(err)
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
		if _, err := facts.Recall(ctx, fact.Ref{Persona: "coder", Key: key, StaleOK: true}); errs.CodeOf(err) != errs.NotFound {
			t.Errorf("%s: %v", key, err)
		}
	}
	page, err := facts.Search(ctx, fact.Query{Persona: "coder", Pattern: "*"})
	if err != nil || page.Count != 1 || page.Facts[0].Key != "stays" {
		t.Errorf("%d facts are left, %v", page.Count, err)
	}
	if _, err := facts.Recall(ctx, fact.Ref{Key: "s/1"}); err != nil {
		t.Errorf("another persona's: %v", err)
	}
	deleted := 0
	events, err := m.store.Events(t.Context(), 0, 10_000)
	for _, e := range events {
		if e.Type == fact.EventDeleted {
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
	ctx := principal.With(t.Context(), principal.Open())
	draft := func(key string) fact.Draft { return fact.Draft{Key: key, Value: json.RawMessage(`1`)} }
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
	agent := principal.With(t.Context(), principal.Principal{AgentID: "a", Scopes: []principal.Scope{principal.ScopeAgent}})
	if _, err := facts.Clear(agent, "", "", 10); errs.CodeOf(err) != errs.Forbidden {
		t.Errorf("an agent: %v", err)
	}
	open := principal.With(t.Context(), principal.Open())
	if _, err := facts.Clear(open, "../x", "", 10); errs.CodeOf(err) != errs.Invalid {
		t.Errorf("a persona that is a path: %v", err)
	}
}

// TestEpisodeClear clears episodes of both kinds, and holds the search and what is known
// of their types to it.
func TestEpisodeClear(t *testing.T) {
	m := open(t, t.TempDir(), time.Now)
	ctx := principal.With(t.Context(), principal.Open())
	record := func(draft episode.Draft) {
		t.Helper()
		if _, err := m.episodes.Record(ctx, draft); err != nil {
			t.Fatal(err)
		}
	}
	const many = 230 // two whole steps and a bit
	for i := range many {
		record(episode.Draft{Event: "mrr-drop", Learned: fmt.Sprintf("payment gateway %d", i)})
	}
	record(episode.Draft{EventType: episode.EventAction, Title: "payment gateway", Content: "payment gateway"})
	record(episode.Draft{Event: "mrr-drop", Learned: "payment gateway", Persona: "coder"})
	lessons := lesson.NewLessons(m.store, lesson.Options{})
	experiences := experience.NewExperiences(m.store, m.episodes, lessons, experience.Options{})
	for range 3 {
		if _, err := experiences.Record(ctx, experience.Draft{OperationType: "build", Outcome: "success"}); err != nil {
			t.Fatal(err)
		}
	}
	found := func(persona string) int {
		t.Helper()
		results, err := m.episodes.Search(ctx, episode.Query{Query: "payment gateway", Persona: persona, Limit: 200})
		if err != nil {
			t.Fatal(err)
		}
		return results.Count
	}

	agent := principal.With(t.Context(), principal.Principal{AgentID: "a", Scopes: []principal.Scope{principal.ScopeAgent}})
	if _, err := m.episodes.Clear(agent, "", "", 10); errs.CodeOf(err) != errs.Forbidden {
		t.Errorf("an agent: %v", err)
	}
	if n, err := m.episodes.Clear(ctx, "", "mrr-drop", 150); err != nil || n != 150 {
		t.Fatalf("a bounded call deleted %d, %v", n, err)
	}
	if n, err := m.episodes.Clear(ctx, "", "mrr-drop", 10_000); err != nil || n != many-150 {
		t.Fatalf("the rest: %d, %v", n, err)
	}
	if here, there := found("default"), found("coder"); here != 1 || there != 1 {
		t.Errorf("found %d and %d", here, there)
	}
	before, err := m.store.EpisodeHoldings(ctx, "default")
	if err != nil || len(before) != 2 {
		t.Fatalf("%+v, %v", before, err)
	}
	if n, err := m.episodes.Clear(ctx, "", "", 10_000); err != nil || n != 4 {
		t.Errorf("all: %d, %v", n, err)
	}
	if here, there := found("default"), found("coder"); here != 0 || there != 1 {
		t.Errorf("found %d and %d", here, there)
	}
	recall, err := experiences.Recall(ctx, experience.Filter{OperationType: "build"})
	if err != nil || recall.Count != 0 {
		t.Errorf("%+v, %v", recall, err)
	}
	check, err := m.episodes.Check(ctx)
	if err != nil || len(check.Missing)+len(check.Surplus) != 0 {
		t.Errorf("the index is not in step: %+v, %v", check, err)
	}
}

func TestProcedureClear(t *testing.T) {
	procedures, _ := openProcedures(t, t.TempDir(), newHandClock(), nil)
	ctx := principal.With(t.Context(), principal.Open())
	save := func(persona, category, name string) {
		t.Helper()
		_, err := procedures.Save(ctx, procedure.Draft{Persona: persona, Category: category, Name: name, Steps: []procedure.Step{{Action: "roll out the release"}}})
		if err != nil {
			t.Fatal(err)
		}
	}
	for i := range 60 {
		save("", "deployment", fmt.Sprint("deploy-", i))
	}
	save("", "", "other")
	save("coder", "deployment", "deploy-1")
	run, err := procedures.Start(ctx, procedure.RunDraft{Name: "deploy-1"})
	if err != nil {
		t.Fatal(err)
	}
	agent := principal.With(t.Context(), principal.Principal{AgentID: "a", Scopes: []principal.Scope{principal.ScopeAgent}})
	if _, err := procedures.Clear(agent, "", "", 10); errs.CodeOf(err) != errs.Forbidden {
		t.Errorf("an agent: %v", err)
	}
	if n, err := procedures.Clear(ctx, "", "deployment", 7); err != nil || n != 7 {
		t.Errorf("a bounded call: %d, %v", n, err)
	}
	if n, err := procedures.Clear(ctx, "", "deployment", 1000); err != nil || n != 53 {
		t.Errorf("the rest: %d, %v", n, err)
	}
	found, err := procedures.Search(ctx, procedure.Query{Query: "release", Persona: "*", Limit: 100})
	if err != nil || found.Count != 2 {
		t.Errorf("%d are found, %v", found.Count, err)
	}
	if _, err := procedures.Report(ctx, procedure.StepReport{RunID: run.ID, Status: procedure.StepSucceeded}); err != nil {
		t.Errorf("a run under way: %v", err)
	}
}
