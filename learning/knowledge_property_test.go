package learning_test

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/knowledge"
)

// TestIndexEqualsDatabase does random things to a few entries, in one model
// and in the real thing, and compares them, the database and the index.
func TestIndexEqualsDatabase(t *testing.T) {
	m := open(t, t.TempDir(), time.Now)
	ctx := principal.With(t.Context(), principal.Open())
	round := 0
	rapid.Check(t, func(rt *rapid.T) {
		round++
		project := fmt.Sprint("round ", round) // one database serves every round: they meet in no project
		model := map[string]string{}           // id to content
		ids := rapid.SampledFrom([]string{"a", "b", "c/d"})
		contents := rapid.SampledFrom([]string{"red apple", "Red  Apple", "green pear", "green pear and plum", "\u00e9clair", "e\u0301clair"})
		draft := func(rt *rapid.T) knowledge.Draft {
			d := knowledge.Draft{Category: "c", Title: "fruit", Content: contents.Draw(rt, "content"), Project: project}
			if rapid.Bool().Draw(rt, "named") {
				d.ID = fmt.Sprint(round, ids.Draw(rt, "id"))
			}
			return d
		}
		// expect says what Store must answer, and notes it.
		expect := func(d knowledge.Draft, got knowledge.Stored) {
			if d.ID == "" {
				twin := ""
				for id, content := range model {
					if fold(content) == fold(d.Content) {
						twin = id
					}
				}
				if got.Duplicate != (twin != "") || got.Updated || got.Duplicate && fold(model[got.ID]) != fold(d.Content) {
					rt.Fatalf("storing %+v gave %+v over %v", d, got, model)
				}
				if !got.Duplicate {
					model[got.ID] = d.Content
				}
				return
			}
			old, there := model[d.ID]
			if got.ID != d.ID || got.Duplicate != (there && old == d.Content) || got.Updated != (there && old != d.Content) {
				rt.Fatalf("storing %+v gave %+v over %v", d, got, model)
			}
			model[d.ID] = d.Content
		}
		anyID := func(rt *rapid.T) string {
			known := slices.Sorted(maps.Keys(model))
			return rapid.SampledFrom(append(known, "nobody")).Draw(rt, "known")
		}
		rt.Repeat(map[string]func(*rapid.T){
			"store": func(rt *rapid.T) {
				d := draft(rt)
				got, err := m.knowledge.Store(ctx, d)
				if err != nil {
					rt.Fatal(err)
				}
				expect(d, got)
			},
			"bulk": func(rt *rapid.T) {
				drafts := rapid.SliceOfN(rapid.Custom(draft), 0, 5).Draw(rt, "drafts")
				for i := range drafts { // with ids alone: bulk does not say which it gave
					if drafts[i].ID == "" {
						drafts[i].ID = fmt.Sprint(round, "bulk")
					}
				}
				if _, err := m.knowledge.Bulk(ctx, source(io.EOF, drafts...)); err != nil {
					rt.Fatal(err)
				}
				for _, d := range drafts {
					model[d.ID] = d.Content
				}
			},
			"update": func(rt *rapid.T) {
				id, content := anyID(rt), contents.Draw(rt, "content")
				_, err := m.knowledge.Update(ctx, id, knowledge.Patch{Content: &content})
				if _, there := model[id]; there != (err == nil) {
					rt.Fatalf("updating %q: %v", id, err)
				} else if there {
					model[id] = content
				}
			},
			"delete": func(rt *rapid.T) {
				id := anyID(rt)
				err := m.knowledge.Delete(ctx, id)
				if _, there := model[id]; there != (err == nil) {
					rt.Fatalf("deleting %q: %v", id, err)
				}
				delete(model, id)
			},
			"": func(rt *rapid.T) {
				found, err := m.knowledge.Search(ctx, knowledge.Query{Query: "fruit", Project: project, Limit: learning.MaxLimit})
				if err != nil {
					rt.Fatal(err)
				}
				got := map[string]string{}
				for _, hit := range found.Results {
					got[hit.ID] = hit.Content
				}
				if !maps.Equal(got, model) {
					rt.Fatalf("found %v, want %v", got, model)
				}
			},
		})
		check, err := m.knowledge.Check(ctx)
		if err != nil || !check.OK() {
			rt.Fatalf("%+v, %v", check, err)
		}
	})
}

// fold is the comparison of contents, as far as this test's contents need it.
func fold(content string) string {
	switch content {
	case "Red  Apple":
		return "red apple"
	case "e\u0301clair":
		return "\u00e9clair"
	}
	return content
}
