package learning

import (
	"cmp"
	"context"
	"strconv"

	"skillrouter"
	"skillrouter/tfidf"
)

// Search implements KnowledgeService. It needs ScopeRead.
func (k *KnowledgeBase) Search(ctx context.Context, query KnowledgeQuery) (KnowledgeResults, error) {
	results, err := k.Find(ctx, query)
	if err == nil {
		used := make([]string, len(results.Results))
		for i := range results.Results {
			used[i] = results.Results[i].ID
		}
		k.Used(used...)
	}
	if err == nil && results.Vain && query.whole() {
		k.missed(ctx, Miss{Question: query.Query, Project: query.Project, In: GapInKnowledge})
	}
	return results, err
}

// Find is Search for who may yet drop what was found: it counts no use. It needs ScopeRead.
func (k *KnowledgeBase) Find(ctx context.Context, query KnowledgeQuery) (KnowledgeResults, error) {
	if err := cmp.Or(
		skillrouter.PrincipalOf(ctx).Need(skillrouter.ScopeRead),
		checkQuery(query.Query),
		skillrouter.CheckName("category", query.Category),
		skillrouter.CheckName("project", query.Project),
	); err != nil {
		return KnowledgeResults{}, err
	}
	tags, err := cleanTags(query.Tags)
	if err != nil {
		return KnowledgeResults{}, err
	}
	if err := skillrouter.CheckName("agent_id", query.AgentID); err != nil {
		return KnowledgeResults{}, err
	}
	span, err := spanOf(query.Since, query.Until, query.TimeRange, k.now())
	if err != nil {
		return KnowledgeResults{}, err
	}
	limit, err := skillrouter.Limit(query.Limit, DefaultKnowledgeLimit, MaxLimit)
	if err != nil {
		return KnowledgeResults{}, err
	}
	found, err := k.ask(ctx, shelfQuery{
		Query: tfidf.Query{
			Text: query.Query, Category: query.Category, Project: query.Project, Tags: written(foldTags(tags), query.AgentID),
			From: moment(span.From), To: moment(span.To), Limit: limit, Explain: query.Explain, Corpus: query.Corpus,
		},
		category: "category", project: "project",
		more: func(ctx context.Context, hits []tfidf.Hit, request tfidf.Query, limit int) ([]tfidf.Hit, error) {
			return k.answered.gain(ctx, hits, request, limit, k.documents)
		},
	})
	if err != nil {
		return KnowledgeResults{}, err
	}
	results := KnowledgeResults{Results: []KnowledgeHit{}, Corrected: found.Corrected, Notice: found.Notice, Tried: found.Tried}
	results.LeftOut, err = k.read(ctx, found, func(entry *Knowledge, hit tfidf.Hit) {
		k.show(entry)
		results.Results = append(results.Results, KnowledgeHit{*entry, hit.Score, reasons(hit.Why), hit.Evidence})
	})
	if err != nil {
		return KnowledgeResults{}, err
	}
	results.Count = len(results.Results)
	results.Vain = found.vain(results.Count)
	return results, nil
}

// KnowledgeFilter selects entries for a listing; empty fields select everything.
type KnowledgeFilter struct {
	Category string `json:"category,omitempty"`
	Project  string `json:"project,omitempty"`
	AgentID  string `json:"agent_id,omitempty" doc:"Only those that this agent wrote"`
	Cursor   string `json:"cursor,omitempty" doc:"The answer's next of the page before"`
	Limit    int    `json:"limit,omitempty" doc:"1 to 200; 0: 50"` // 1 to MaxLimit; 0 means DefaultListing
}

// DefaultListing is how many entries a page of a listing has.
const DefaultListing = 50

// KnowledgePage is a page of a listing, newest first.
type KnowledgePage struct {
	Results []Knowledge `json:"results"`
	Count   int         `json:"count"`
	Next    string      `json:"next,omitempty"` // cursor of the next page; empty: this is the last
}

// List returns a page of entries, newest first: as many as the limit says, or
// fewer that are MaxAnswer bytes together. It needs ScopeRead. Entries
// that are stored while one pages through come on no later page, and none
// comes twice.
func (k *KnowledgeBase) List(ctx context.Context, filter KnowledgeFilter) (KnowledgePage, error) {
	if err := cmp.Or(
		skillrouter.PrincipalOf(ctx).Need(skillrouter.ScopeRead),
		skillrouter.CheckNames("category", filter.Category, "project", filter.Project, "agent_id", filter.AgentID),
	); err != nil {
		return KnowledgePage{}, err
	}
	limit, err := skillrouter.Limit(filter.Limit, DefaultListing, MaxLimit)
	if err != nil {
		return KnowledgePage{}, err
	}
	before := int64(0)
	if filter.Cursor != "" {
		if before, err = strconv.ParseInt(filter.Cursor, 10, 64); err != nil || before < 1 {
			return KnowledgePage{}, skillrouter.InvalidField("cursor", "is not one that a listing answered")
		}
	}
	filter.Limit = limit + 1 // one more tells whether there is a next page
	entries, err := k.store.ListKnowledge(ctx, filter, before)
	if err != nil {
		return KnowledgePage{}, err
	}
	page := KnowledgePage{Results: entries}
	size := 0
	for i, e := range entries {
		if i == limit || size >= MaxAnswer {
			page.Results, page.Next = entries[:i], strconv.FormatInt(entries[i-1].Number, 10)
			break
		}
		size += len(e.Content)
	}
	for i := range page.Results {
		k.show(&page.Results[i])
	}
	page.Count = len(page.Results)
	return page, nil
}
