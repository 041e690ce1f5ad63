package search

import (
	"context"
	"fmt"
	"slices"

	"skillrouter"
	"skillrouter/learning"
	"skillrouter/operational"
	"skillrouter/router"
	"skillrouter/tfidf"
)

// query is what is asked of an index for a search, without the tags that are the kind's own.
func (r *request) query() tfidf.Query {
	q := tfidf.Query{
		Text: r.Query.Query, Category: r.Category, Project: r.Project, From: instant(r.span.From), To: instant(r.span.To),
		Limit: r.Limit, Explain: r.Explain, Corpus: r.corpus,
	}
	if r.AgentID != "" {
		q.Tags = []string{ofAgent + r.AgentID}
	}
	return q
}

// searchMessages finds messages that concern the caller. To others' it is blind
// from the first: what concerns whom is a tag of each, the words are searched as
// they are, and how rare they are is what the other kinds say of them.
func (w *Words) searchMessages(ctx context.Context, r *request) (kindFound, error) {
	if err := w.messages.catchUp(ctx); err != nil {
		return kindFound{}, err
	}
	query := r.query()
	query.Limit *= 2 // some may have expired
	var found tfidf.Result
	if r.caller.Has(skillrouter.ScopeCaptain) {
		found = w.messages.index.Search(query)
	} else {
		query.Exact = true
		for _, readers := range []string{forAgent + r.caller.AgentID, forAll} {
			part := query
			part.Tags = append(slices.Clone(query.Tags), readers)
			for _, hit := range w.messages.index.Search(part).Hits {
				if !slices.ContainsFunc(found.Hits, func(h tfidf.Hit) bool { return h.ID == hit.ID }) {
					found.Hits = append(found.Hits, hit)
				}
			}
		}
	}
	f := w.found(w.messages, found)
	err := inOrder(ctx, found.Hits, w.store.MessagesOf, func(m *operational.Message) string { return m.ID }, func(m *operational.Message, hit tfidf.Hit) {
		if len(f.hits) == r.Limit || m.ExpiresAt != nil && !r.now.Before(*m.ExpiresAt) {
			return
		}
		to := m.To
		if to == "" {
			to = "all"
		}
		f.add(Hit{
			ID: m.ID, Title: fmt.Sprintf("%s from %s to %s", m.Signal, m.From, to), Snippet: plainJSON(m.Context), Category: m.Signal,
			Author: m.From, Trust: router.TrustAgent, At: m.CreatedAt, RelevanceScore: hit.Score,
		}, hit.Evidence, reasonsOf(hit.Why))
	})
	return f, err
}

func (w *Words) searchFindings(ctx context.Context, r *request) (kindFound, error) {
	if err := w.findings.catchUp(ctx); err != nil {
		return kindFound{}, err
	}
	found := w.findings.index.Search(r.query())
	f := w.found(w.findings, found)
	err := inOrder(ctx, found.Hits, w.store.FindingsOf, func(one *operational.Finding) string { return one.ID }, func(one *operational.Finding, hit tfidf.Hit) {
		f.add(Hit{
			ID: one.ID, Title: router.FindingPhrase(*one), Snippet: paragraphs(one.Description, one.Evidence, one.Remediation), Category: string(one.Severity),
			Project: one.Project, At: one.LastSeen, RelevanceScore: hit.Score,
		}, hit.Evidence, reasonsOf(hit.Why))
	})
	return f, err
}

func (w *Words) searchTasks(ctx context.Context, r *request) (kindFound, error) {
	if err := w.tasks.catchUp(ctx); err != nil {
		return kindFound{}, err
	}
	found := w.tasks.index.Search(r.query())
	f := w.found(w.tasks, found)
	err := inOrder(ctx, found.Hits, w.store.TasksOf, func(t *operational.Task) string { return t.ID }, func(t *operational.Task, hit tfidf.Hit) {
		f.add(Hit{
			ID: t.ID, Title: fmt.Sprintf("#%d %s", t.Number, t.Title), Snippet: paragraphs(t.Description, t.Note, t.BlockedReason, t.Result, t.Error),
			Category: string(t.Status), Project: t.Project, Author: t.CreatedBy, Trust: router.TrustAgent, At: t.UpdatedAt, RelevanceScore: hit.Score,
		}, hit.Evidence, reasonsOf(hit.Why))
	})
	return f, err
}

func (w *Words) found(x *wordIndex, result tfidf.Result) kindFound {
	f := kindFound{SearchedKind: SearchedKind{Kind: x.kind}, corrected: result.Corrected}
	if !x.filled.Load() {
		f.Notice = reading(x.kind)
	}
	return f
}

// inOrder reads the rows of hits and visits them, the best first. Those that
// are not there any more are passed over.
func inOrder[Row any](ctx context.Context, hits []tfidf.Hit, read func(context.Context, []string) ([]Row, error), id func(*Row) string, visit func(*Row, tfidf.Hit)) error {
	if len(hits) == 0 {
		return nil
	}
	ids := make([]string, len(hits))
	for i, hit := range hits {
		ids[i] = hit.ID
	}
	rows, err := read(ctx, ids)
	if err != nil {
		return err
	}
	byID := make(map[string]*Row, len(rows))
	for i := range rows {
		byID[id(&rows[i])] = &rows[i]
	}
	for _, hit := range hits {
		if row, there := byID[hit.ID]; there {
			visit(row, hit)
		}
	}
	return nil
}

func reasonsOf(why []tfidf.Reason) []learning.Reason {
	if why == nil {
		return nil
	}
	list := make([]learning.Reason, len(why))
	for i, r := range why {
		list[i] = learning.Reason(r)
	}
	return list
}
