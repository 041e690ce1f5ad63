package knowledge

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/skillrouter/skillrouter/learning/shelf"
	"github.com/skillrouter/skillrouter/tfidf"
)

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
