package shelf

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/redact"
	"github.com/skillrouter/skillrouter/tfidf"
)

// Figures of a search by meaning.
const (
	// queryWait is how long a search waits for the vector of its query, while its words are
	// being looked for: a model on the same machine needs 10 to 100 ms.
	queryWait = 300 * time.Millisecond
	// queryTime bounds a call for a vector that nobody waits for any more. Its answer is for
	// the next who asks the same: a model that is loaded first takes seconds.
	queryTime = 10 * time.Second
	// maxCachedQueries is how many queries' vectors are remembered: agents ask the same again,
	// of several stores and within minutes.
	maxCachedQueries = 512
	// breakAfter is after how many failures or delays in a row no query waits any more, and
	// breakFirst how long it is at first until one is tried again.
	breakAfter = 3
	breakFirst = 5 * time.Second
	// fuseConstant is the k of Reciprocal Rank Fusion: Cormack, Clarke, Büttcher, "Reciprocal
	// Rank Fusion outperforms Condorcet and individual Rank Learning Methods", SIGIR 2009.
	fuseConstant = 60
	// fuseDepth is how many hits of each lane are fused: what the second pass of the words'
	// lane scores.
	fuseDepth = 64
)

// What a search says when it went by words alone.
const (
	noticeDown = "search is lexical only: the embedding endpoint does not answer"
	noticeSlow = "search is lexical only: the embedding endpoint took too long"
)

// LaneVector is the part of a score that comes from the vectors.
const LaneVector = "vector"

// meaning is the lane of the vectors in one search. A nil one adds nothing.
type meaning struct {
	vectors *Vectors
	kind    EmbeddingKind
	vector  []float32
	coming  <-chan singleflight.Result // the vector, where it is still on its way; else nil
	notice  string
}

// ask begins the vectors' lane of a search: the query's vector is made while its
// words are looked for. It returns nil if there is no such lane.
func (v *Vectors) ask(ctx context.Context, kind EmbeddingKind, text string) *meaning {
	if v == nil {
		return nil
	}
	clean, _ := redact.Text(text)
	text = v.options.QueryPrefix + check.Head(clean, MaxEmbedText)
	v.mu.Lock()
	defer v.mu.Unlock()
	_, n, _ := v.table.size(kind)
	none, vector := n == 0 || !v.loaded, v.answered[text]
	switch {
	case none && v.outage.since.IsZero():
		return nil
	case none || vector == nil && v.now().Before(v.outage.until):
		return &meaning{notice: noticeDown}
	case vector != nil:
		return &meaning{vectors: v, kind: kind, vector: vector}
	}
	return &meaning{vectors: v, kind: kind, coming: v.asking.DoChan(text, func() (any, error) {
		return v.embedQuery(context.WithoutCancel(ctx), text)
	})}
}

// embedQuery makes the vector of a query, whether somebody still waits for it or not.
func (v *Vectors) embedQuery(ctx context.Context, text string) ([]float32, error) {
	begin := v.now()
	vectors, err := v.embed(ctx, queryTime, text)
	v.mu.Lock()
	defer v.mu.Unlock()
	if err != nil {
		if !refusal(err) { // else it is this text that the model does not take
			v.outage.failed(err, v.now())
		}
		return nil, err
	}
	if v.now().Sub(begin) <= queryWait {
		v.outage.over()
	}
	if len(v.answered) >= maxCachedQueries {
		clear(v.answered)
	}
	v.answered[text] = vectors[0]
	return vectors[0], nil
}

// answer returns the query's vector, or why there is none in time.
func (m *meaning) answer(ctx context.Context) (vector []float32, notice string) {
	if m.coming == nil {
		return m.vector, m.notice
	}
	timer := time.NewTimer(queryWait)
	defer timer.Stop()
	select {
	case made := <-m.coming:
		if made.Err != nil {
			return nil, noticeDown
		}
		return made.Val.([]float32), ""
	case <-timer.C:
		v := m.vectors
		v.mu.Lock()
		defer v.mu.Unlock()
		v.outage.failed(errs.Errorf(errs.Unavailable, "the embedding endpoint took longer than %s for a query", queryWait), v.now())
	case <-ctx.Done():
	}
	return nil, noticeSlow
}

// depth is how many hits the words' lane must find for an answer of limit.
func (m *meaning) depth(limit int) int {
	if m == nil {
		return limit
	}
	return max(limit, fuseDepth)
}

// fuse joins what the words found with what the vectors find, best first, and
// says so if there are no vectors now. The request is the one that the words were
// looked for with; its filters hold for the vectors too.
func (m *meaning) fuse(ctx context.Context, words []tfidf.Hit, request tfidf.Query, limit int) (hits []tfidf.Hit, notice string) {
	if m == nil {
		return words, ""
	}
	words = words[:min(len(words), m.depth(limit))]
	vector, notice := m.answer(ctx)
	if vector == nil {
		return words[:min(len(words), limit)], notice
	}
	found, least := m.vectors.table.nearest(m.kind, vector, request, m.depth(limit))
	return fused(words, found, least, limit, request.Explain), ""
}

// fused orders the hits of both lanes by Reciprocal Rank Fusion and returns the
// best. A hit's score is the sum of 1/(k+rank) over the lanes that found it, as a
// share of what the first of both lanes has: from 0 to 1, and comparable within one
// answer only. The first of the words' lane is never left out: who asks for an
// error's number must find it, however many items are about errors. A hit of
// the vectors alone must be as near as least.
func fused(words []tfidf.Hit, found []neighbour, least float64, limit int, explain bool) []tfidf.Hit {
	const most = 2.0 / (fuseConstant + 1)
	share := func(rank int) float64 { return 1 / float64(fuseConstant+rank) / most }
	hits := make([]tfidf.Hit, len(words), len(words)+len(found))
	place := make(map[string]int, len(words)+len(found))
	for i, w := range words {
		hits[i] = tfidf.Hit{ID: w.ID, Score: share(i + 1), Evidence: w.Evidence}
		place[w.ID] = i
		for _, r := range w.Why {
			hits[i].Why = append(hits[i].Why, tfidf.Reason{Lane: r.Lane, Term: r.Term, Weight: r.Weight / w.Score * hits[i].Score})
		}
	}
	for i, n := range found {
		at, both := place[n.id]
		if !both {
			if n.cosine < least {
				continue
			}
			at = len(hits)
			hits = append(hits, tfidf.Hit{ID: n.id})
		}
		hits[at].Score += share(i + 1)
		if explain {
			hits[at].Why = append(hits[at].Why, tfidf.Reason{Lane: LaneVector, Term: fmt.Sprintf("cosine %.3f", n.cosine), Weight: share(i + 1)})
		}
	}
	slices.SortStableFunc(hits, func(a, b tfidf.Hit) int { // of equal ones the words' come first, in their order
		return cmp.Compare(b.Score, a.Score)
	})
	if at := slices.IndexFunc(hits, func(h tfidf.Hit) bool { return len(words) > 0 && h.ID == words[0].ID }); at >= limit {
		hits[limit-1] = hits[at]
	}
	return hits[:min(len(hits), limit)]
}
