package learning

import "context"

// Miss is a question that found nothing.
type Miss struct {
	Question string
	Project  string
	AgentID  string // for whom it was asked; empty, or one that the caller may not act as: the caller
}

// MissObserver is told of questions that found nothing. It must return at once.
type MissObserver interface {
	// Missed notes a miss, asked as the context's principal, unless the context says
	// that nobody asked.
	Missed(ctx context.Context, miss Miss)
}

type notAskedKey struct{}

// NotAsked returns a context for searches that nobody asked for, such as those by which a
// service puts an answer together. If such a search finds nothing, that is no gap.
func NotAsked(ctx context.Context) context.Context {
	return context.WithValue(ctx, notAskedKey{}, true)
}

// IsAsked tells whether somebody asked for the searches of a context. See NotAsked.
func IsAsked(ctx context.Context) bool { return ctx.Value(notAskedKey{}) == nil }

type hitsAloneKey struct{}

// HitsAlone returns a context for searches of which nothing but the hits is read: where there are none, words like
// those of the query are tried, and nothing is counted that would only be told.
func HitsAlone(ctx context.Context) context.Context {
	return context.WithValue(ctx, hitsAloneKey{}, true)
}

// IsHitsAlone tells whether nothing but the hits is read. See HitsAlone.
func IsHitsAlone(ctx context.Context) bool { return ctx.Value(hitsAloneKey{}) != nil }

// Repair is one thing that a search tried after it had found nothing.
type Repair struct {
	Step   string `json:"step"`   // see the steps
	Detail string `json:"detail"` // what was tried, for a person
	Found  int    `json:"found"`  // how many fit then, at most MaxLimit
}
