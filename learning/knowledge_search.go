package learning

import (
	"context"
	"slices"
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
		k.gaps.Missed(ctx, Miss{Question: query.Query, Project: query.Project, In: GapInKnowledge})
	}
	return results, err
}

// Used counts a use of each entry: somebody was shown it.
func (k *KnowledgeBase) Used(ids ...string) {
	if len(ids) > 0 {
		k.uses.count(ids, k.clock())
	}
}

// Find is Search for who may yet drop what was found: it counts no use. It needs ScopeRead.
func (k *KnowledgeBase) Find(ctx context.Context, query KnowledgeQuery) (KnowledgeResults, error) {
	if err := skillrouter.PrincipalOf(ctx).Need(skillrouter.ScopeRead); err != nil {
		return KnowledgeResults{}, err
	}
	if err := checkQuery(query.Query); err != nil {
		return KnowledgeResults{}, err
	}
	if err := skillrouter.CheckName("category", query.Category); err != nil {
		return KnowledgeResults{}, err
	}
	if err := skillrouter.CheckName("project", query.Project); err != nil {
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
	meaning := k.vectors.Load().ask(EmbeddedKnowledge, query.Query)
	request := tfidf.Query{
		Text: query.Query, Category: query.Category, Project: query.Project, Tags: written(foldTags(tags), query.AgentID),
		From: moment(span.From), To: moment(span.To), Limit: meaning.depth(limit), Explain: query.Explain, Corpus: query.Corpus,
	}
	found, rebuilding := k.kept.Search(ctx, request)
	results := KnowledgeResults{Results: []KnowledgeHit{}, Corrected: found.Corrected}
	hits, notice := meaning.fuse(ctx, found.Hits, request, limit)
	results.Notice = notices(rebuilding, notice)
	before := len(hits)
	if hits, err = k.answered.gain(ctx, hits, request, limit, k.documents); err != nil {
		return KnowledgeResults{}, err
	}
	if len(hits) == 0 && rebuilding == "" {
		results.Tried, results.Notice = k.repairs.try(ctx, k.kept.Index(), request, &found, filtersOf(request, "category", "project"), results.Notice)
		hits, results.Corrected = found.Hits, found.Corrected
	}
	results.LeftOut, err = fetch(ctx, hits, k.store.Knowledge, func(e *Knowledge) (string, int) { return e.ID, len(e.Content) },
		func(entry *Knowledge, hit tfidf.Hit) {
			if meaning != nil && len(results.Tried) == 0 && !fits(knowledgeDocument(*entry), request) {
				return // it was changed a moment ago
			}
			k.uses.add(entry)
			results.Results = append(results.Results, KnowledgeHit{*entry, hit.Score, reasons(hit.Why), hit.Evidence})
		})
	if err != nil {
		return KnowledgeResults{}, err
	}
	results.Count = len(results.Results)
	vainly := len(results.Tried) > 0 ||
		vain(found, results.Count, query.Query) && (meaning == nil || results.Count == 0) && (before > 0 || results.Count == 0)
	results.Vain = rebuilding == "" && vainly
	return results, nil
}

// fetchRows is how many rows one query of fetch asks for: the usual answer at
// once, and little too much where contents are long.
const fetchRows = 16

// fetch reads the rows of hits and hands them on, best first, until the answer
// has MaxAnswer bytes. It returns how many hits were left out then. Rows that
// were deleted since the index was asked are passed over.
func fetch[Row any](
	ctx context.Context, hits []tfidf.Hit, read func(context.Context, []string) ([]Row, error),
	measure func(*Row) (id string, size int), take func(*Row, tfidf.Hit),
) (leftOut int, err error) {
	total, done := 0, 0
	for part := range slices.Chunk(hits, fetchRows) {
		rows, err := read(ctx, hitIDs(part))
		if err != nil {
			return 0, err
		}
		byID := make(map[string]*Row, len(rows))
		for i := range rows {
			id, _ := measure(&rows[i])
			byID[id] = &rows[i]
		}
		for _, hit := range part {
			if total >= MaxAnswer {
				return len(hits) - done, nil
			}
			done++
			if row, there := byID[hit.ID]; there {
				_, size := measure(row)
				total += size
				take(row, hit)
			}
		}
	}
	return 0, nil
}

func hitIDs(hits []tfidf.Hit) []string {
	ids := make([]string, len(hits))
	for i, h := range hits {
		ids[i] = h.ID
	}
	return ids
}

func reasons(why []tfidf.Reason) []Reason {
	if why == nil {
		return nil
	}
	out := make([]Reason, len(why))
	for i, r := range why {
		out[i] = Reason(r)
	}
	return out
}

// KnowledgeFilter selects entries for a listing; empty fields select everything.
type KnowledgeFilter struct {
	Category string `json:"category,omitempty"`
	Project  string `json:"project,omitempty"`
	AgentID  string `json:"agent_id,omitempty"`
	Cursor   string `json:"cursor,omitempty"` // Next of the page before; empty: the first page
	Limit    int    `json:"limit,omitempty"`  // 1 to MaxLimit; 0 means DefaultListing
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
	if err := skillrouter.PrincipalOf(ctx).Need(skillrouter.ScopeRead); err != nil {
		return KnowledgePage{}, err
	}
	for field, value := range map[string]string{"category": filter.Category, "project": filter.Project, "agent_id": filter.AgentID} {
		if err := skillrouter.CheckName(field, value); err != nil {
			return KnowledgePage{}, err
		}
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
	entries, numbers, err := k.store.ListKnowledge(ctx, filter, before)
	if err != nil {
		return KnowledgePage{}, err
	}
	page := KnowledgePage{Results: entries}
	size := 0
	for i, e := range entries {
		if i == limit || size >= MaxAnswer {
			page.Results, page.Next = entries[:i], strconv.FormatInt(numbers[i-1], 10)
			break
		}
		size += len(e.Content)
	}
	for i := range page.Results {
		k.uses.add(&page.Results[i])
	}
	page.Count = len(page.Results)
	return page, nil
}
