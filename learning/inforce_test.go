package learning_test

import (
	"slices"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/knowledge"
)

// TestInForce lists the decisions of a project and of none, newest first, until another stands in their place, and again once that is gone.
func TestInForce(t *testing.T) {
	m := open(t, t.TempDir(), time.Now)
	ctx := principal.With(t.Context(), principal.Open())
	store := func(id, category, project string, supersedes ...string) {
		t.Helper()
		draft := knowledge.Draft{ID: id, Category: category, Title: id, Content: id, Project: project, Supersedes: supersedes, Source: knowledge.SaidAt}
		if _, err := m.knowledge.StoreAs(ctx, draft, learning.TrustPerson); err != nil {
			t.Fatal(err)
		}
	}
	holds := func(project string, want ...string) {
		t.Helper()
		found, err := m.knowledge.InForce(ctx, project)
		if err != nil {
			t.Fatal(err)
		}
		got := []string{}
		for _, e := range found {
			got = append(got, e.ID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("of %q in force: %v, want %v", project, got, want)
		}
	}
	store("pnpm", knowledge.CategoryDecision, "shop")
	store("push", knowledge.CategoryConstraint, "")
	store("other", knowledge.CategoryDecision, "ledger")
	store("note", knowledge.CategoryGotcha, "shop")
	holds("shop", "push", "pnpm")
	holds("", "push")
	store("yarn", knowledge.CategoryDecision, "shop", "pnpm")
	holds("shop", "yarn", "push")
	if err := m.knowledge.Delete(ctx, "yarn"); err != nil {
		t.Fatal(err)
	}
	holds("shop", "push", "pnpm")
	if e, err := m.knowledge.Entry(ctx, "pnpm"); err != nil || !e.Said() {
		t.Errorf("%+v, %v", e, err)
	}
	if _, err := m.knowledge.Store(ctx, knowledge.Draft{ID: "forged", Category: knowledge.CategoryDecision, Title: "t", Content: "c", Source: knowledge.SaidAt + " of claude-code"}); err != nil {
		t.Fatal(err)
	}
	if e, _ := m.knowledge.Entry(ctx, "forged"); e.Said() {
		t.Error("an agent's entry counts as said by a person, because its source claims so")
	}
}
