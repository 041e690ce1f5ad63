package guard

import (
	"context"

	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/tfidf"
)

// Fitting returns the active rules whose words fit a task best, best first. It
// judges nothing and writes nothing to the ledger: a task is not yet an action.
// It needs ScopeRead.
func (g *Guards) Fitting(ctx context.Context, task string, limit int) ([]Rule, error) {
	if err := principal.Of(ctx).Need(principal.ScopeRead); err != nil {
		return nil, err
	}
	hits := g.similar.Index.Search(tfidf.Query{Text: task, Limit: limit}).Hits
	kept := make([]*heldRule, 0, len(hits))
	g.mu.RLock()
	for _, hit := range hits {
		if k := g.rules[hit.ID]; k != nil && k.active {
			kept = append(kept, k)
		}
	}
	g.mu.RUnlock()
	if len(kept) == 0 {
		return nil, nil
	}
	return g.shown(ctx, kept)
}
