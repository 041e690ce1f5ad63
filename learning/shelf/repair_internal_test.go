package shelf

import (
	"context"
	"testing"

	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/tfidf"
)

// counting counts how often other kinds are asked.
type counting struct{ asked int }

func (c *counting) Elsewhere(context.Context, string, string) []learning.Repair {
	c.asked++
	return nil
}

// Who reads the hits alone has no other kind asked and nothing counted without filters, and finds what others find.
func TestHitsAlone(t *testing.T) {
	t.Parallel()
	index := tfidf.New(tfidf.Options{})
	index.Put(tfidf.Document{ID: "a", Title: "the orchestration of trains", Project: "rails"})
	var others counting
	var r repairs
	r.Tell("knowledge", &others)
	try := func(ctx context.Context, text string) (tfidf.Result, []learning.Repair) {
		request := tfidf.Query{Text: text, Project: "rails"}
		found := index.Search(request)
		done, _ := r.try(ctx, index, request, &found, filtersOf(request, "category", "project"), "")
		return found, done
	}
	alone := learning.HitsAlone(t.Context())
	try(alone, "nothing has it")
	if others.asked != 0 {
		t.Errorf("others were asked %d times for what nobody reads", others.asked)
	}
	if try(t.Context(), "nothing has it"); others.asked != 1 {
		t.Errorf("others were asked %d times and not once", others.asked)
	}
	found, done := try(alone, "orchestr")
	told, all := try(t.Context(), "orchestr")
	if len(found.Hits) != 1 || len(told.Hits) != 1 || len(done) >= len(all) {
		t.Errorf("found %v after %v, and %v after %v where all is told", found.Hits, done, told.Hits, all)
	}
}
