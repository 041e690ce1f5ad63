package learning_test

import (
	"math"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/episode"
	"github.com/skillrouter/skillrouter/learning/knowledge"
)

func TestSessionsEndAndAreRecovered(t *testing.T) {
	dir := t.TempDir()
	now := time.Date(2026, 11, 21, 6, 41, 22, 0, time.UTC)
	clock := func() time.Time { return now }
	record := func(t *testing.T, m memory) string {
		t.Helper()
		ctx := principal.With(t.Context(), principal.Principal{AgentID: "builder", Scopes: []principal.Scope{principal.ScopeAgent}})
		e, err := m.episodes.Record(ctx, episode.Draft{EventType: "action", Title: "t", Content: "c"})
		if err != nil {
			t.Fatal(err)
		}
		if current, err := m.episodes.CurrentSession(ctx, "builder"); err != nil || current != e.SessionID {
			t.Errorf("current session %q, %v; the episode is in %q", current, err, e.SessionID)
		}
		return e.SessionID
	}
	var first string
	t.Run("first run", func(t *testing.T) {
		m := open(t, dir, clock)
		first = record(t, m)
		if first != "builder-20261121T064122.000Z" {
			t.Errorf("session %q", first)
		}
		now = now.Add(learning.SessionIdle)
		if again := record(t, m); again != first {
			t.Errorf("within the time: %q, want %q", again, first)
		}
	})
	m := open(t, dir, clock)
	now = now.Add(learning.SessionIdle)
	if again := record(t, m); again != first {
		t.Errorf("after a restart: %q, want %q", again, first)
	}
	now = now.Add(learning.SessionIdle + time.Millisecond)
	if current, err := m.episodes.CurrentSession(t.Context(), "builder"); err != nil || current != "" {
		t.Errorf("after the time the agent is in %q, %v", current, err)
	}
	if next := record(t, m); next == first {
		t.Error("after the time the session goes on")
	}
}

func TestImportanceMustBeANumber(t *testing.T) {
	m := open(t, t.TempDir(), time.Now)
	ctx := principal.With(t.Context(), principal.Open())
	for _, importance := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		_, err := m.episodes.Record(ctx, episode.Draft{EventType: "action", Title: "t", Content: "c", Importance: &importance})
		if errs.CodeOf(err) != errs.Invalid || errs.FieldOf(err) != "importance" {
			t.Errorf("importance %g: %v", importance, err)
		}
	}
}

func TestNobodyMayDoNothing(t *testing.T) {
	m := open(t, t.TempDir(), time.Now)
	ctx := t.Context() // no principal
	title := "t"
	calls := map[string]func() error{
		"store": func() error { _, err := m.knowledge.Store(ctx, entry("", "c")); return err },
		"entry": func() error { _, err := m.knowledge.Entry(ctx, "x"); return err },
		"update": func() error {
			_, err := m.knowledge.Update(ctx, "x", knowledge.Patch{Title: &title})
			return err
		},
		"delete":  func() error { return m.knowledge.Delete(ctx, "x") },
		"search":  func() error { _, err := m.knowledge.Search(ctx, knowledge.Query{Query: "q"}); return err },
		"list":    func() error { _, err := m.knowledge.List(ctx, knowledge.Filter{}); return err },
		"bulk":    func() error { _, err := m.knowledge.Bulk(ctx, source(nil)); return err },
		"record":  func() error { _, err := m.episodes.Record(ctx, episode.Draft{}); return err },
		"recent":  func() error { _, err := m.episodes.Recent(ctx, episode.Filter{}); return err },
		"explore": func() error { _, err := m.episodes.Search(ctx, episode.Query{Query: "q"}); return err },
	}
	for name, call := range calls {
		if err := call(); errs.CodeOf(err) != errs.Forbidden {
			t.Errorf("%s: %v, want it forbidden", name, err)
		}
	}
}
