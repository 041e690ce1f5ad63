package router_test

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/internal/tally"
	"github.com/skillrouter/skillrouter/router"
	"github.com/skillrouter/skillrouter/router/kind"
)

// shelf is a memory of which a test sets what it holds.
type shelf []tally.Tally

func (s *shelf) held(_ context.Context, persona string) ([]tally.Tally, error) {
	var list []tally.Tally
	for _, h := range *s {
		if persona == "" || h.Persona == persona || h.Persona == "" {
			list = append(list, h)
		}
	}
	return list, nil
}

func (s *shelf) clear(_ context.Context, persona, category string, most int) (n int64, err error) {
	for i := range *s {
		if h := &(*s)[i]; h.Persona == persona && (category == "" || h.Category == category) {
			gone := min(h.Count, int64(most)-n)
			h.Count -= gone
			n += gone
		}
	}
	return n, nil
}

func shelves() (facts, reminders *shelf, introspection *router.Introspection) {
	facts = &shelf{{Persona: "default", Category: "schemas", Count: 2, Expired: 1, Bytes: 30}, {Persona: "coder", Category: "schemas", Count: 5, Bytes: 50}, {Persona: "default", Category: "gone", Expired: 3}}
	reminders = &shelf{{Persona: "default", Category: "time", Count: 4, Bytes: 40}}
	knowledge := &shelf{{Category: "schemas", Count: 7, Bytes: 70}}
	held := []router.HeldMemory{kind.Fact.Held, kind.Reminder.Held, kind.Knowledge.Held}
	held[0].Held, held[0].Clear = facts.held, facts.clear
	held[1].Held, held[1].Clear = reminders.held, reminders.clear
	held[2].Held = knowledge.held
	return facts, reminders, router.NewIntrospection(held, nil, func(context.Context) ([]router.DatabaseSize, error) {
		return []router.DatabaseSize{{Name: "learning.db", Bytes: 4096}}, nil
	})
}

func asScope(t *testing.T, scope principal.Scope) context.Context {
	return principal.With(t.Context(), principal.Principal{AgentID: "a", Scopes: []principal.Scope{scope}})
}

func TestMemoryCategories(t *testing.T) {
	_, _, introspection := shelves()
	got, err := introspection.Categories(asScope(t, principal.ScopeRead), "")
	want := router.MemoryCategories{Persona: "default", Categories: []string{"schemas", "time"}, Count: 2, Held: []router.MemoryCategory{
		{Type: router.SemanticMemory, Category: "schemas", Count: 2, Bytes: 30},
		{Type: router.ProspectiveMemory, Category: "time", Count: 4, Bytes: 40},
		{Type: router.TeamKnowledge, Category: "schemas", Count: 7, Bytes: 70},
	}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	if _, err := introspection.Categories(asScope(t, principal.ScopeRead), "../x"); errs.CodeOf(err) != errs.Invalid {
		t.Errorf("a persona that is a path: %v", err)
	}
	if _, err := introspection.Categories(t.Context(), ""); errs.CodeOf(err) != errs.Forbidden {
		t.Errorf("nobody: %v", err)
	}
}

func TestMemoryStats(t *testing.T) {
	_, _, introspection := shelves()
	got, err := introspection.Stats(asScope(t, principal.ScopeRead), "")
	if err != nil || got.Count != 18 || got.Bytes != 190 || got.PersonaCount != 2 || got.Personas[0].Persona != "default" || len(got.Databases) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	if diff := cmp.Diff(router.MemoryCount{Count: 7, Expired: 4, Bytes: 80}, got.Types[router.SemanticMemory]); diff != "" {
		t.Error(diff)
	}
	if got.Types[router.TeamKnowledge].Count != 7 {
		t.Errorf("%+v", got.Types)
	}
	got, err = introspection.Stats(asScope(t, principal.ScopeRead), "coder")
	if _, team := got.Types[router.TeamKnowledge]; err != nil || got.Count != 5 || team || len(got.Personas) != 1 {
		t.Errorf("of one persona: %+v, %v", got, err)
	}
}

func TestClearMemory(t *testing.T) {
	facts, reminders, introspection := shelves()
	before := slices.Concat(*facts, *reminders)
	reader, captain := asScope(t, principal.ScopeRead), asScope(t, principal.ScopeCaptain)

	got, err := introspection.Clear(reader, router.ClearRequest{})
	want := router.Cleared{
		Persona: "default", Count: 6, Remaining: 6, Notice: "Nothing was deleted: confirm must be true for that.",
		Types: []router.ClearedCount{{Type: router.SemanticMemory, Count: 2}, {Type: router.ProspectiveMemory, Count: 4}},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	for _, scope := range []principal.Scope{principal.ScopeRead, principal.ScopeAgent} {
		if _, err := introspection.Clear(asScope(t, scope), router.ClearRequest{Confirm: true}); errs.CodeOf(err) != errs.Forbidden {
			t.Errorf("%s: %v", scope, err)
		}
	}
	for _, bad := range []router.ClearRequest{{Persona: "../x"}, {Type: "everything"}, {Type: "knowledge"}, {Type: "lessons"}, {Type: "sessions"}, {Category: "a\nb"}} {
		bad.Confirm = true
		if _, err := introspection.Clear(captain, bad); errs.CodeOf(err) != errs.Invalid {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	if diff := cmp.Diff(before, slices.Concat(*facts, *reminders)); diff != "" {
		t.Fatalf("something was deleted:\n%s", diff)
	}

	got, err = introspection.Clear(captain, router.ClearRequest{Category: "schemas", Confirm: true})
	if err != nil || got.Count != 2 || got.Remaining != 0 || len(got.NotCleared) != 1 || got.NotCleared[0].Count != 7 {
		t.Errorf("%+v, %v", got, err)
	}
	if (*facts)[0].Count != 0 || (*facts)[1].Count != 5 || (*reminders)[0].Count != 4 {
		t.Errorf("left: %+v %+v", *facts, *reminders)
	}
	if got, err = introspection.Clear(captain, router.ClearRequest{Category: "schemas", Confirm: true}); err != nil || got.Count != 0 {
		t.Errorf("again: %+v, %v", got, err)
	}

	(*facts)[1].Count = router.MaxCleared + 10
	got, err = introspection.Clear(captain, router.ClearRequest{Persona: "coder", Type: "facts", Confirm: true})
	if err != nil || got.Type != router.SemanticMemory || got.Count != router.MaxCleared || got.Remaining != 10 || got.Notice == "" {
		t.Errorf("more than one call deletes: %+v, %v", got, err)
	}
}
