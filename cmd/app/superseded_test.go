package app_test

import (
	"context"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/skillrouter/skillrouter/internal/database/databasetest"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/knowledge"
	learningstore "github.com/skillrouter/skillrouter/learning/store"
	"github.com/skillrouter/skillrouter/router/contexts"
	"github.com/skillrouter/skillrouter/router/kind"
	"github.com/skillrouter/skillrouter/router/search"
)

// superseding are pairs of texts of which the later stands in the earlier one's place.
var superseding = [][2]string{
	{"We use npm in this repository", "We use pnpm in this repository"},
	{"Bug reports go to Jira", "Bug reports go to Linear instead of Jira"},
	{"The API listens on port 3000", "The API listens on port 4000"},
	{"Deploys leave on Fridays", "Deploys leave on Tuesdays, since support is short of people at the weekend"},
	{"The cart keeps prices as floats", "Prices in the cart are cents"},
	{"Thumbnails are made by ImageMagick", "Pictures are resized by a worker that calls libvips"},
	{"Run the tests with make test", "pytest -q runs everything"},
	{"Staging is db1-old.example", "Staging has moved to db2-new.example"},
}

// known is a base of knowledge on a real database, and who searches it and makes contexts of it.
type known struct {
	base    *knowledge.Base
	all     *search.Searcher
	context *contexts.Builder
}

func knowing(t *testing.T) known {
	t.Helper()
	db := databasetest.Running(t, t.TempDir(), "learning")
	rows := learningstore.New(db.Read, db.Commit)
	base := knowledge.NewBase(rows, learning.Options{})
	if err := base.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	return known{
		base: base, all: search.NewSearcher([]kind.Memory{kind.Entries(base, rows)}, search.SearcherOptions{}),
		context: contexts.NewBuilder(contexts.Sources{Knowledge: base, Index: rows}, contexts.Options{}),
	}
}

func (k known) store(t *testing.T, ctx context.Context, draft knowledge.Draft) knowledge.Stored {
	t.Helper()
	draft.Category = "pattern"
	if draft.Title == "" {
		draft.Title = draft.Content
	}
	stored, err := k.base.Store(ctx, draft)
	if err != nil {
		t.Fatalf("%q: %v", draft.Content, err)
	}
	return stored
}

// TestSupersededRanksBehind stores pairs and asks for each with the words of the superseded one, in every way in which
// an agent is told: its successor comes first, and it is there, marked. Pairs that nobody marked are the control.
func TestSupersededRanksBehind(t *testing.T) {
	ctx := principal.With(t.Context(), principal.Open())
	k := knowing(t)
	ahead := func(project, question, old, next string) (bool, bool) {
		found, err := k.base.Find(ctx, knowledge.Query{Query: question, Project: project, Explain: true})
		if err != nil {
			t.Fatal(err)
		}
		a := slices.IndexFunc(found.Results, func(h knowledge.Hit) bool { return h.ID == next })
		b := slices.IndexFunc(found.Results, func(h knowledge.Hit) bool { return h.ID == old })
		for _, h := range found.Results {
			sum := 0.0
			for _, w := range h.Why {
				sum += w.Weight
			}
			if d := sum - h.RelevanceScore; d > 1e-6 || d < -1e-6 {
				t.Errorf("%q: the parts of a score make %v of %v", question, sum, h.RelevanceScore)
			}
		}
		one, err := k.all.Search(ctx, search.Query{Query: question, Project: project})
		if err != nil {
			t.Fatal(err)
		}
		c := slices.IndexFunc(one.Results, func(h search.Hit) bool { return h.ID == next })
		d := slices.IndexFunc(one.Results, func(h search.Hit) bool { return h.ID == old })
		return a >= 0 && a < b && (d < 0 || c >= 0 && c < d), b >= 0 && d >= 0
	}
	control := 0
	for i, pair := range superseding {
		named := "named" + string(rune('a'+i%26)) + time.Duration(i).String()
		old := k.store(t, ctx, knowledge.Draft{Content: pair[0], Project: named, AgentID: "a"})
		next := k.store(t, ctx, knowledge.Draft{Content: pair[1], Project: named, AgentID: "a", Supersedes: []string{old.ID}})
		if !slices.Equal(next.Supersedes, []string{old.ID}) {
			t.Errorf("%q: stored as %+v", pair[1], next)
		}
		if first, there := ahead(named, pair[0], old.ID, next.ID); !first || !there {
			t.Errorf("%q => %q: the successor is first: %t, the superseded is there: %t", pair[0], pair[1], first, there)
		}
		for _, ask := range []contexts.Request{{Start: true}, {Task: pair[0]}, {Task: pair[0], Prompt: true}} {
			ask.Budget, ask.Project, ask.AgentID = 2000, named, "a"
			told, err := k.context.Build(ctx, ask)
			if err != nil {
				t.Fatal(err)
			}
			if slices.ContainsFunc(told.Items, func(i contexts.Item) bool { return i.ID == old.ID }) {
				t.Errorf("%q: an agent is told what was superseded", pair[0])
			}
		}
		entry, err := k.base.Entry(ctx, old.ID)
		if err != nil || entry.SupersededBy != next.ID || entry.Content != pair[0] {
			t.Errorf("%q: it is %+v, %v", pair[0], entry, err)
		}

		plain, drafts := named+"plain", []knowledge.Draft{{ID: named + "1", Category: "c", Content: pair[0]}, {ID: named + "2", Category: "c", Content: pair[1]}}
		if _, err := k.base.Bulk(ctx, func() (knowledge.Draft, error) {
			if len(drafts) == 0 {
				return knowledge.Draft{}, io.EOF
			}
			d := drafts[0]
			drafts, d.Project = drafts[1:], plain
			return d, nil
		}); err != nil {
			t.Fatal(err)
		}
		if first, _ := ahead(plain, pair[0], named+"1", named+"2"); first {
			control++
		}
	}
	if control > len(superseding)/2 {
		t.Errorf("%d pairs are in that order without a mark", control)
	}
}

// TestSupersedingIsItsAuthors has agents put entries in the place of what others wrote: nothing of it is taken out of use by them.
func TestSupersedingIsItsAuthors(t *testing.T) {
	k := knowing(t)
	as := func(agent string, scope principal.Scope) context.Context {
		return principal.With(t.Context(), principal.Principal{AgentID: agent, Scopes: []principal.Scope{scope}})
	}
	captain, good, evil := as("", principal.ScopeCaptain), as("good", principal.ScopeAgent), as("evil", principal.ScopeAgent)
	entry := func(id string) knowledge.Knowledge {
		t.Helper()
		e, err := k.base.Entry(captain, id)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	old := k.store(t, captain, knowledge.Draft{Content: "Deployments go through Heroku"})
	lie := k.store(t, evil, knowledge.Draft{Content: "Deployments go through Fly.io, Heroku was shut down"})
	if len(lie.Supersedes) > 0 || entry(old.ID).SupersededBy != "" {
		t.Errorf("an agent's text took a captain's entry out of use: %+v", lie)
	}
	for _, project := range []string{"", "other"} {
		if _, err := k.base.Store(evil, knowledge.Draft{Category: "c", Title: "x" + project, Content: "y", Project: project, Supersedes: []string{old.ID}}); errs.CodeOf(err) == "" {
			t.Errorf("an agent superseded a captain's entry by its id, from project %q", project)
		}
	}
	none := ""
	if _, err := k.base.Update(evil, old.ID, knowledge.Patch{SupersededBy: &lie.ID}); errs.CodeOf(err) != errs.Forbidden {
		t.Errorf("an agent put its own in the place of a captain's: %v", err)
	}

	// What an agent says of its own is done, and undone by one call.
	mine := k.store(t, good, knowledge.Draft{Content: "Bug reports go to Jira", Project: "p"})
	next := k.store(t, good, knowledge.Draft{Content: "Bug reports go to Linear instead of Jira", Project: "p", Supersedes: []string{mine.ID}})
	if !slices.Equal(next.Supersedes, []string{mine.ID}) {
		t.Fatalf("its own was not superseded: %+v", next)
	}
	if back, err := k.base.Update(good, mine.ID, knowledge.Patch{SupersededBy: &none}); err != nil || back.SupersededBy != "" {
		t.Fatalf("it was not taken back: %+v, %v", back, err)
	}
	// One whose successor is deleted stands for itself again.
	if _, err := k.base.Update(good, mine.ID, knowledge.Patch{SupersededBy: &next.ID}); err != nil {
		t.Fatal(err)
	}
	if err := k.base.Delete(good, next.ID); err != nil || entry(mine.ID).SupersededBy != "" {
		t.Errorf("it is superseded by what is not there: %v", err)
	}
}

// TestGoingBack: a team that goes back to what it decided first is told that again, and neither both nor none.
func TestGoingBack(t *testing.T) {
	ctx := principal.With(t.Context(), principal.Open())
	k := knowing(t)
	npm := k.store(t, ctx, knowledge.Draft{Content: "We use npm in this repository", Project: "shop"})
	pnpm := k.store(t, ctx, knowledge.Draft{Content: "We use pnpm in this repository", Project: "shop", Supersedes: []string{npm.ID}})
	again := knowledge.Draft{Content: "We use npm in this repository", Project: "shop", Supersedes: []string{pnpm.ID}}
	for range 2 { // and once more, as a client does whose answer was lost
		if back := k.store(t, ctx, again); back.ID != npm.ID {
			t.Fatalf("stored as %+v", back)
		}
	}
	told, err := k.context.Build(ctx, contexts.Request{Start: true, Budget: 2000, Project: "shop"})
	if err != nil || len(told.Items) != 1 || told.Items[0].ID != npm.ID {
		t.Errorf("an agent is told %+v, %v", told.Items, err)
	}
	third := k.store(t, ctx, knowledge.Draft{Content: "We use bun in this repository", Project: "shop", Supersedes: []string{npm.ID}})
	_ = k.store(t, ctx, knowledge.Draft{ID: pnpm.ID, Content: "We use pnpm in this repository", Project: "shop"})
	again.Category, again.Title = "pattern", again.Content
	fourth := k.store(t, ctx, knowledge.Draft{Content: "We use deno in this repository", Project: "shop", Supersedes: []string{third.ID}})
	again.Supersedes = []string{third.ID, fourth.ID}
	if back := k.store(t, ctx, again); back.ID != npm.ID || !slices.Equal(back.Supersedes, again.Supersedes) {
		t.Errorf("back over two steps: %+v", back)
	}
	third = k.store(t, ctx, knowledge.Draft{Content: "We use yarn in this repository", Project: "shop", Supersedes: []string{npm.ID}})
	again.Supersedes = []string{k.store(t, ctx, knowledge.Draft{Content: "The port is 3000", Project: "shop"}).ID}
	if _, err := k.base.Store(ctx, again); errs.FieldOf(err) != "supersedes" {
		t.Errorf("yarn stands in the place of npm, and is not named: %v", err)
	}
	if _, err := k.base.Store(ctx, knowledge.Draft{ID: pnpm.ID, Category: "c", Title: "t", Content: "We use pnpm after all", Project: "shop", Supersedes: []string{third.ID}}); errs.CodeOf(err) != errs.Invalid {
		t.Errorf("a line of entries that stand in each other's places closes: %v", err)
	}
}

// TestSupersededIsTakenIn: what an import brings is as outdated as it was.
func TestSupersededIsTakenIn(t *testing.T) {
	ctx := principal.With(t.Context(), principal.Open())
	from, to := knowing(t), knowing(t)
	old := from.store(t, ctx, knowledge.Draft{Content: "The API listens on port 3000", Project: "shop"})
	next := from.store(t, ctx, knowledge.Draft{Content: "The API listens on port 4000", Project: "shop", Supersedes: []string{old.ID}})
	var entries []knowledge.Knowledge
	for _, id := range []string{old.ID, next.ID} {
		e, err := from.base.Entry(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, e)
	}
	taken, err := to.base.Take(ctx, entries, learning.Taking{})
	if err != nil || taken[0].Err != nil || taken[1].Err != nil {
		t.Fatalf("%+v, %v", taken, err)
	}
	if e, err := to.base.Entry(ctx, old.ID); err != nil || e.SupersededBy != next.ID {
		t.Errorf("the old one is %+v, %v", e, err)
	}
	found, err := to.base.Find(ctx, knowledge.Query{Query: "The API listens on port 3000", Project: "shop"})
	if err != nil || len(found.Results) != 2 || found.Results[0].ID != next.ID {
		t.Errorf("found is %+v, %v", found.Results, err)
	}
	entries[1].ID = uuid.NewSHA1(uuid.Nil, []byte("made of its words by another rule")).String()
	if taken, err = to.base.Take(ctx, entries[1:], learning.Taking{}); err != nil || !taken[0].Duplicate || taken[0].ID != next.ID {
		t.Errorf("the same text under another id that was made of it: %+v, %v", taken, err)
	}
	entries[0].ID, entries[0].SupersededBy = "wrong", strings.Repeat("x", 1000)
	if taken, err = to.base.Take(ctx, entries[:1], learning.Taking{}); err != nil || errs.CodeOf(taken[0].Err) != errs.Invalid {
		t.Errorf("%+v, %v", taken, err)
	}
}
