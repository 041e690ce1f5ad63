package procedure

import (
	"context"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/internal/tally"
)

// clearStep is how many procedures Clear reads at once.
const clearStep = 50

// Clear deletes a persona's procedures, of one category or, if that is empty,
// of all, with their files and figures, at most most of them, and returns how
// many. Runs under way go on, as they do after Delete. Each is deleted by
// itself; what a crash leaves, the next call deletes. It needs ScopeCaptain.
func (p *Procedures) Clear(ctx context.Context, persona, category string, most int) (deleted int64, err error) {
	return tally.Clear(ctx, persona, most, clearStep, nil, func(ctx context.Context, persona string, _ int64, limit int) (deleted int64, all int, err error) {
		list, err := p.store.ListProcedures(ctx, Filter{Persona: persona, Category: category, Limit: limit})
		for _, found := range list {
			err := p.remove(ctx, Ref{Persona: persona, Name: found.Name}, principal.Of(ctx).AgentID, nil)
			switch {
			case err == nil:
				deleted++
			case errs.CodeOf(err) != errs.NotFound: // somebody else deleted it
				return deleted, len(list), err
			}
		}
		return deleted, len(list), err
	})
}
