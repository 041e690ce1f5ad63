package shelf

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"skillrouter/internal/check"
	"skillrouter/internal/redact"
	"skillrouter/tfidf"
)

// Figures of the fusion.
const (
	// fuseConstant is the k of Reciprocal Rank Fusion: Cormack, Clarke, Büttcher, "Reciprocal
	// Rank Fusion outperforms Condorcet and individual Rank Learning Methods", SIGIR 2009.
	fuseConstant = 60
	// fuseDepth is how many hits of each lane are fused: what the second pass of the words'
	// lane scores.
	fuseDepth = 64
	// nearEnough is the least cosine of a hit that shares no word with the query, and
	// farFromUsual by how many standard deviations it must lie above what the query's
	// cosine is with just any item, where there are usualLeast of them to tell: vectors are near
	// to something, whatever is asked for.
	nearEnough   = 0.25
	farFromUsual = 2.5
	usualLeast   = 64
)

// LaneVector is the part of a score that comes from the vectors.
const LaneVector = "vector"

// meaning is the lane of the vectors in one search. A nil one adds nothing.
type meaning struct {
	vectors *Vectors
	kind    EmbeddingKind
	asked   *asked
	notice  string
}

// ask begins the vectors' lane of a search: the query's vector is made while its
// words are looked for. It returns nil if there is no such lane.
func (v *Vectors) ask(kind EmbeddingKind, text string) *meaning {
	if v == nil {
		return nil
	}
	v.mu.Lock()
	loaded, failing := v.loaded, !v.queries.since.IsZero() || !v.items.since.IsZero()
	v.mu.Unlock()
	if _, n, _ := v.table.size(kind); n == 0 || !loaded {
		if loaded && failing {
			return &meaning{notice: noticeDown}
		}
		return nil
	}
	clean, _ := redact.Text(text)
	asked, notice := v.query(v.queryPrefix + check.Head(clean, MaxEmbedText))
	return &meaning{v, kind, asked, notice}
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
	words = words[:min(len(words), max(limit, fuseDepth))]
	if m.asked == nil {
		return words[:min(len(words), limit)], m.notice
	}
	vector, notice := m.vectors.answer(ctx, m.asked)
	if notice != "" {
		return words[:min(len(words), limit)], notice
	}
	found, least := m.vectors.table.nearest(m.kind, vector, request, max(limit, fuseDepth))
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
			place[n.id] = at
		}
		hits[at].Score += share(i + 1)
		if explain {
			hits[at].Why = append(hits[at].Why, tfidf.Reason{Lane: LaneVector, Term: fmt.Sprintf("cosine %.3f", n.cosine), Weight: share(i + 1)})
		}
	}
	if explain {
		for i := range hits {
			Exact(hits[i].Score, hits[i].Why)
		}
	}
	first := ""
	if len(words) > 0 {
		first = words[0].ID
	}
	slices.SortStableFunc(hits, func(a, b tfidf.Hit) int { // of equal ones the words' come first, in their order
		return cmp.Compare(b.Score, a.Score)
	})
	if at := slices.IndexFunc(hits, func(h tfidf.Hit) bool { return h.ID == first }); at >= limit {
		hits[limit-1] = hits[at]
	}
	return hits[:min(len(hits), limit)]
}
