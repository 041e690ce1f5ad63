package knowledge

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/shelf"
	"github.com/skillrouter/skillrouter/learning/subject"
	"github.com/skillrouter/skillrouter/tfidf"
)

// Search implements Service. It needs ScopeRead.
func (k *Base) Search(ctx context.Context, query Query) (Results, error) {
	results, err := k.look(ctx, query, query.Shown || learning.IsAsked(ctx))
	if err == nil {
		used := make([]string, len(results.Results))
		for i := range results.Results {
			used[i] = results.Results[i].ID
		}
		k.Used(used...)
	}
	if err == nil && results.NoMatch && !results.Shown() && query.unfiltered() {
		k.Missed(ctx, learning.Miss{Question: query.Query, Project: query.Project})
	}
	return results, err
}

// Find is Search for who may yet drop what was found: it counts no use, and goes by the question's words alone. It needs ScopeRead.
func (k *Base) Find(ctx context.Context, query Query) (Results, error) {
	return k.look(ctx, query, false)
}

// look searches, by what the question is about where nothing has its words and subjects is set.
func (k *Base) look(ctx context.Context, query Query, subjects bool) (Results, error) {
	caller := principal.Of(ctx).Keeping()
	tags, wrongTags := learning.CleanTags(query.Tags)
	span, wrongSpan := shelf.SpanOf(query.Since, query.Until, query.TimeRange, k.now())
	limit, wrongLimit := check.Limit(query.Limit, learning.DefaultKnowledgeLimit, learning.MaxLimit)
	if err := cmp.Or(
		caller.Need(principal.ScopeRead),
		learning.CheckQuery(query.Query),
		learning.CheckRelevance(query.MinRelevance),
		check.Names("category", query.Category, "project", query.Project),
		wrongTags,
		check.Names("agent_id", query.AgentID, "prefer_project", query.PreferProject),
		wrongSpan,
		wrongLimit,
	); err != nil {
		return Results{}, err
	}
	asked := shelf.ShelfQuery{
		Query: tfidf.Query{
			Text: query.Query, Category: query.Category, Project: query.Project, Tags: shelf.Written(learning.FoldTags(tags), query.AgentID),
			From: shelf.Moment(span.From), To: shelf.Moment(span.To), Limit: limit, Explain: query.Explain, Corpus: query.Corpus,
		},
		Category: "category", Project: "project", Prefer: query.PreferProject,
		More: func(ctx context.Context, hits []tfidf.Hit, request tfidf.Query, limit int) ([]tfidf.Hit, error) {
			if k.answers == nil {
				return hits, nil
			}
			return gain(ctx, k.answers.Lane(request.Text), hits, request, limit, k.DocumentsByID)
		},
	}
	results, partial, err := k.find(ctx, query, asked, limit)
	if err != nil || len(results.Results) > 0 || partial || !subjects {
		return results, err
	}
	return k.bySubject(ctx, query, asked, results)
}

// find asks the shelf. It tells whether the index is not complete yet.
func (k *Base) find(ctx context.Context, query Query, asked shelf.ShelfQuery, limit int) (results Results, partial bool, err error) {
	found, err := k.Ask(ctx, asked)
	if err != nil {
		return Results{}, false, err
	}
	results = Results{Results: []Hit{}, Corrected: found.Corrected, Notice: found.Notice, Repairs: found.Repairs}
	results.LeftOut, err = k.Fetch(ctx, found, func(entry *Knowledge, hit tfidf.Hit) {
		k.show(entry)
		results.Results = append(results.Results, Hit{*entry, hit.Score, shelf.Relevance(hit.Evidence), shelf.Reasons(hit.Why), hit.Evidence})
	})
	if err != nil {
		return Results{}, false, err
	}
	caller := principal.Of(ctx).Keeping()
	fits := func(e *Knowledge) bool { return caller.Sees(e.Project) && found.Fits(Document(e)) }
	if results.Results, err = k.successorsFirst(ctx, results.Results, limit, query.Explain, fits); err != nil {
		return Results{}, false, err
	}
	results.Results = learning.Relevant(results.Results, query.MinRelevance, query.Shown, func(h Hit) float64 { return h.Relevance })
	results.Count = len(results.Results)
	results.NoMatch = found.NoMatch(results.Count)
	return results, found.Partial, nil
}

// bySubject finds what is about the same where nothing has a question's words. It
// returns nothing, which was found before, if no title names a subject of the question.
func (k *Base) bySubject(ctx context.Context, query Query, asked shelf.ShelfQuery, nothing Results) (Results, error) {
	about := subject.Of(query.Query)
	if len(about) == 0 {
		return nothing, nil
	}
	limit := asked.Limit
	asked.Text, asked.Limit, asked.Corpus = about.Ask(query.Query), learning.MaxLimit, nil
	query.Shown = false
	results, _, err := k.find(learning.NotAsked(ctx), query, asked, learning.MaxLimit)
	if err != nil {
		return nothing, err
	}
	named := subject.Among(about, results.Results, query.MinRelevance, func(h *Hit) (string, *float64) { return h.Title, &h.Relevance })
	if len(named) == 0 {
		return nothing, nil
	}
	results.Results = named[:min(len(named), limit)]
	results.Count = len(results.Results)
	results.NoMatch, results.Notice = false, about.Notice()
	return results, nil
}

// Shown tells whether a person is shown any of it.
func (r *Results) Shown() bool {
	return slices.ContainsFunc(r.Results, func(h Hit) bool { return h.Relevance >= learning.ShownRelevance })
}

// Filter selects entries for a listing; empty fields select everything.
type Filter struct {
	Category string   `json:"category,omitempty" help:"Only this category"`
	Project  string   `json:"project,omitempty" doc:"Only this project"`
	General  bool     `json:"-"` // only those that belong to no project
	Within   []string `json:"-"` // only those of these projects; nil: of any
	InForce  bool     `json:"-"` // only decisions and constraints, of the project and of none, in whose place nothing stands
	AgentID  string   `json:"agent_id,omitempty" doc:"Only those that this agent wrote"`
	Cursor   string   `json:"cursor,omitempty" doc:"The answer's next of the page before"`
	Limit    int      `json:"limit,omitempty" doc:"1 to 200; 0: 50"` // 1 to MaxLimit; 0 means DefaultListing
}

// Page is a page of a listing, newest first.
type Page struct {
	Results []Knowledge `json:"results"`
	Count   int         `json:"count"`
	Next    string      `json:"next,omitempty"` // cursor of the next page; empty: this is the last
}

// List returns a page of entries, newest first: as many as the limit says, or
// fewer that are MaxAnswer bytes together. It needs ScopeRead. Entries
// that are stored while one pages through come on no later page, and none
// comes twice.
func (k *Base) List(ctx context.Context, filter Filter) (Page, error) {
	caller := principal.Of(ctx).Keeping()
	limit, wrongLimit := check.Limit(filter.Limit, learning.DefaultListing, learning.MaxLimit)
	before, wrongCursor := learning.ReadCursor(filter.Cursor)
	if err := cmp.Or(
		caller.Need(principal.ScopeRead),
		check.Names("category", filter.Category, "project", filter.Project, "agent_id", filter.AgentID),
		wrongLimit,
		wrongCursor,
	); err != nil {
		return Page{}, err
	}
	filter.Within = caller.Projects()
	filter.Limit = limit + 1 // one more tells whether there is a next page
	entries, err := k.store.ListKnowledge(ctx, filter, before)
	if err != nil {
		return Page{}, err
	}
	page := Page{Results: entries}
	size := 0
	for i, e := range entries {
		if i == limit || size >= learning.MaxAnswer {
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

// InForce returns the decisions and constraints of a project, and those of none, in whose place nothing stands, newest first. It needs ScopeRead.
func (k *Base) InForce(ctx context.Context, project string) ([]Knowledge, error) {
	page, err := k.List(ctx, Filter{Project: project, InForce: true, Limit: learning.MaxLimit})
	return page.Results, err
}

// IndexKind is the kind of the index of knowledge.
const IndexKind shelf.IndexKind = "knowledge"

// Document is what is searched of an entry. Tags are words of its
// text too: whoever chose them meant the entry to be found by them.
func Document(e *Knowledge) tfidf.Document {
	body := e.Content
	if len(e.Tags) > 0 {
		body += "\n" + strings.Join(e.Tags, " ")
	}
	return tfidf.Document{ID: e.ID, Title: e.Title, Body: body, Category: e.Category, Project: e.Project, Tags: shelf.Written(learning.FoldTags(e.Tags), e.Author), Order: e.Number, At: shelf.Moment(e.UpdatedAt)}
}

// LaneUsed is a Reason's lane: the entry answered a question like this one.
const LaneUsed = "used"

// Answers says which entries answered like questions. learning/verdict implements it.
type Answers interface {
	// Lane returns what they gain, by their ids, as a share of the best score. The caller may change it.
	Lane(query string) map[string]float64
	// Forget drops an entry that was deleted.
	Forget(id string)
}

// gain adds to the hits of a search what entries answered of like questions.
// Entries that the search did not find are added where they fit what it is
// narrowed to, as fits tells.
func gain(ctx context.Context, gains map[string]float64, hits []tfidf.Hit, request tfidf.Query, limit int, read func(context.Context, []string) ([]tfidf.Document, error)) ([]tfidf.Hit, error) {
	if len(gains) == 0 {
		return hits, nil
	}
	top := 1.0
	if len(hits) > 0 && hits[0].Score > 0 {
		top = hits[0].Score
	}
	out := slices.Clone(hits)
	for i := range out {
		if gain, ok := gains[out[i].ID]; ok {
			out[i] = used(out[i], gain*top, request.Explain)
			delete(gains, out[i].ID)
		}
	}
	if len(gains) > 0 {
		ids := slices.Collect(maps.Keys(gains))
		slices.SortFunc(ids, func(x, y string) int { return cmp.Or(cmp.Compare(gains[y], gains[x]), cmp.Compare(x, y)) })
		documents, err := read(ctx, ids[:min(len(ids), limit)])
		if err != nil {
			return nil, err
		}
		for _, doc := range documents {
			if shelf.Fits(&doc, request) {
				out = append(out, used(tfidf.Hit{ID: doc.ID}, gains[doc.ID]*top, request.Explain))
			}
		}
	}
	slices.SortStableFunc(out, func(x, y tfidf.Hit) int { return cmp.Or(cmp.Compare(y.Score, x.Score), cmp.Compare(x.ID, y.ID)) })
	return out[:min(len(out), max(limit, len(hits)))], nil
}

// used adds the lane to a hit.
func used(hit tfidf.Hit, weight float64, explain bool) tfidf.Hit {
	hit.Score += weight
	if explain {
		hit.Why = append(slices.Clone(hit.Why), tfidf.Reason{Lane: LaneUsed, Weight: weight})
	}
	return hit
}
