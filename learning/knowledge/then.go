package knowledge

import (
	"cmp"
	"context"
	"slices"
	"time"

	"skillrouter"
	"skillrouter/learning"
	"skillrouter/learning/shelf"
	"skillrouter/tfidf"
)

// Bounds of a search in what was known at a time: the best hits of today, as they were then, and the latest of the
// entries that said something else then.
const (
	thenFound   = learning.MaxLimit
	thenChanged = 2000
)

// EntryThen is Entry of an entry as it was at a time. It needs ScopeRead.
func (k *Base) EntryThen(ctx context.Context, ref Ref) (Knowledge, error) {
	if ref.AsOf.IsZero() {
		return k.Entry(ctx, ref.ID)
	}
	if err := cmp.Or(skillrouter.PrincipalOf(ctx).Keeping().Need(skillrouter.ScopeRead), learning.CheckID("id", ref.ID)); err != nil {
		return Knowledge{}, err
	}
	entries, err := k.store.KnowledgeThen(ctx, ref.AsOf, []string{ref.ID})
	if err != nil {
		return Knowledge{}, err
	}
	if len(entries) == 0 || !skillrouter.PrincipalOf(ctx).Sees(entries[0].Project) {
		return Knowledge{}, skillrouter.Errorf(skillrouter.NotFound, "no knowledge entry had this id at %s, or what it said then is not kept", ref.AsOf.UTC().Format(time.RFC3339))
	}
	k.show(&entries[0])
	return entries[0], nil
}

// History returns what an entry said before, the latest first: of each version since when it held (UpdatedAt), and a
// Number that tells it from the others. It needs ScopeRead.
func (k *Base) History(ctx context.Context, id string) ([]Knowledge, error) {
	if _, err := k.Entry(ctx, id); err != nil {
		return nil, err
	}
	versions, err := k.store.KnowledgeVersions(ctx, id)
	caller := skillrouter.PrincipalOf(ctx)
	return slices.DeleteFunc(versions, func(e Knowledge) bool { return !caller.Sees(e.Project) }), err
}

// findThen searches what was known at a time. An index is made of it for the one question.
func (k *Base) findThen(ctx context.Context, query Query, asked tfidf.Query) (Results, error) {
	hits, _ := k.Keeper.Search(ctx, tfidf.Query{Text: asked.Text, Limit: thenFound})
	entries, err := k.store.KnowledgeThen(ctx, query.AsOf, shelf.HitIDs(hits.Hits))
	if err != nil {
		return Results{}, err
	}
	changed, err := k.store.KnowledgeSince(ctx, query.AsOf, thenChanged)
	if err != nil {
		return Results{}, err
	}
	then := map[string]*Knowledge{}
	index := tfidf.New(tfidf.Options{})
	for _, list := range [][]Knowledge{entries, changed} {
		for i := range list {
			if e := &list[i]; then[e.ID] == nil {
				then[e.ID] = e
				index.Put(document(e))
			}
		}
	}
	results := Results{Results: []Hit{}}
	for _, hit := range index.Search(asked).Hits {
		entry := *then[hit.ID]
		k.show(&entry)
		if relevance := shelf.Relevance(hit.Evidence); relevance >= query.MinRelevance {
			results.Results = append(results.Results, Hit{entry, hit.Score, relevance, shelf.Reasons(hit.Why), hit.Evidence})
		}
	}
	if results.Results, err = k.successorsFirst(ctx, results.Results, asked.Limit, query.Explain, func(*Knowledge) bool { return false }); err != nil {
		return Results{}, err
	}
	results.Count = len(results.Results)
	return results, nil
}
