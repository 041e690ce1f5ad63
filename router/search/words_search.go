package search

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"skillrouter/internal/principal"
	"skillrouter/learning/shelf"
	"skillrouter/operational"
	"skillrouter/router"
	"skillrouter/router/kind"
	"skillrouter/tfidf"
)

// Memories are what Words finds in, each as a search asks it.
func (w *Words) Memories() []kind.Memory {
	return []kind.Memory{
		{Kind: kind.Task, Words: w.tasks.index, Search: w.searchTasks},
		{Kind: kind.Finding, Words: w.findings.index, Search: w.searchFindings},
		{Kind: kind.Message, Words: w.messages.index, Search: w.searchMessages},
	}
}

// queryOf is what is asked of an index for a question, without the tags that are the kind's own.
func queryOf(q kind.Question) tfidf.Query {
	query := tfidf.Query{
		Text: q.Text, Category: q.Category, Project: q.Project, From: instant(q.Span.From), To: instant(q.Span.To),
		Limit: q.Limit, Explain: q.Explain, Corpus: q.Corpus,
	}
	if q.AgentID != "" {
		query.Tags = []string{ofAgent + q.AgentID}
	}
	return query
}

// searchMessages finds messages that concern the caller. To others' it is blind
// from the first: what concerns whom is a tag of each, the words are searched as
// they are, and how rare they are is what the other kinds say of them.
func (w *Words) searchMessages(ctx context.Context, q kind.Question) (kind.Found, error) {
	if err := w.messages.catchUp(ctx); err != nil {
		return kind.Found{}, err
	}
	query := queryOf(q)
	query.Limit *= 2 // some may have expired
	var found tfidf.Result
	if q.Caller.Has(principal.ScopeCaptain) {
		found = w.messages.index.Search(query)
	} else {
		query.Exact = true
		for _, readers := range []string{forAgent + q.Caller.AgentID, forAll} {
			part := query
			part.Tags = append(slices.Clone(query.Tags), readers)
			for _, hit := range w.messages.index.Search(part).Hits {
				if !slices.ContainsFunc(found.Hits, func(h tfidf.Hit) bool { return h.ID == hit.ID }) {
					found.Hits = append(found.Hits, hit)
				}
			}
		}
	}
	f, err := shown(ctx, w.messages, found, w.store.MessagesOf, func(m *operational.Message) (kind.Hit, bool) {
		to := cmp.Or(m.To, "all")
		return kind.Hit{
			ID: m.ID, Title: fmt.Sprintf("%s from %s to %s", m.Signal, m.From, to), Text: plainJSON(m.Context), Category: m.Signal,
			Author: m.From, Trust: router.TrustAgent, At: m.CreatedAt,
		}, m.ExpiresAt == nil || q.Now.Before(*m.ExpiresAt)
	})
	f.Hits = f.Hits[:min(len(f.Hits), q.Limit)]
	return f, err
}

func (w *Words) searchFindings(ctx context.Context, q kind.Question) (kind.Found, error) {
	if err := w.findings.catchUp(ctx); err != nil {
		return kind.Found{}, err
	}
	return shown(ctx, w.findings, w.findings.index.Search(queryOf(q)), w.store.FindingsOf, func(one *operational.Finding) (kind.Hit, bool) {
		return kind.Hit{
			ID: one.ID, Title: router.FindingPhrase(*one), Text: kind.Paragraphs(one.Description, one.Evidence, one.Remediation), Category: string(one.Severity),
			Project: one.Project, At: one.LastSeen,
		}, true
	})
}

func (w *Words) searchTasks(ctx context.Context, q kind.Question) (kind.Found, error) {
	if err := w.tasks.catchUp(ctx); err != nil {
		return kind.Found{}, err
	}
	return shown(ctx, w.tasks, w.tasks.index.Search(queryOf(q)), w.store.TasksOf, func(t *operational.Task) (kind.Hit, bool) {
		return kind.Hit{
			ID: t.ID, Title: fmt.Sprintf("#%d %s", t.Number, t.Title), Text: kind.Paragraphs(t.Description, t.Note, t.BlockedReason, t.Result, t.Error),
			Category: string(t.Status), Project: t.Project, Author: t.CreatedBy, Trust: router.TrustAgent, At: t.UpdatedAt,
		}, true
	})
}

// shown reads the rows of what an index found, the best first. show says what a row is as a hit, and
// whether it is one still; rows that are not there any more are passed over.
func shown[Row any](ctx context.Context, x *wordIndex, result tfidf.Result, read func(context.Context, []string) ([]Row, error), show func(*Row) (hit kind.Hit, still bool)) (kind.Found, error) {
	f := kind.Found{Corrected: result.Corrected}
	if !x.filled.Load() {
		f.Notice = x.kind.Reading()
	}
	if len(result.Hits) == 0 {
		return f, nil
	}
	ids := make([]string, len(result.Hits))
	for i, hit := range result.Hits {
		ids[i] = hit.ID
	}
	rows, err := read(ctx, ids)
	byID := make(map[string]kind.Hit, len(rows))
	for i := range rows {
		if hit, still := show(&rows[i]); still {
			byID[hit.ID] = hit
		}
	}
	for _, found := range result.Hits {
		if hit, there := byID[found.ID]; there {
			hit.Score, hit.Evidence, hit.Why = found.Score, found.Evidence, shelf.Reasons(found.Why)
			f.Hits = append(f.Hits, hit)
		}
	}
	return f, err
}
