package procedure

import (
	"context"

	"skillrouter/internal/check"
	"skillrouter/internal/committer"
	"skillrouter/internal/errs"
	"skillrouter/internal/principal"
)

// clearStep is how many procedures Clear reads at once.
const clearStep = 50

// Clear deletes a persona's procedures, of one category or, if that is empty,
// of all, with their files and figures, at most most of them, and returns how
// many. Runs under way go on, as they do after Delete. Each is deleted by
// itself; what a crash leaves, the next call deletes. It needs ScopeCaptain.
func (p *Procedures) Clear(ctx context.Context, persona, category string, most int) (deleted int64, err error) {
	ctx = committer.Essential(ctx) // it makes room
	caller := principal.Of(ctx)
	if err := caller.Need(principal.ScopeCaptain); err != nil {
		return 0, err
	}
	if persona, err = check.Persona(persona); err != nil {
		return 0, err
	}
	for most > 0 {
		list, err := p.store.ListProcedures(ctx, Filter{Persona: persona, Category: category, Limit: min(most, clearStep)})
		if err != nil || len(list) == 0 {
			return deleted, err
		}
		for _, found := range list {
			err := p.remove(ctx, Ref{Persona: persona, Name: found.Name}, caller.AgentID, nil)
			switch {
			case err == nil:
				deleted++
			case errs.CodeOf(err) != errs.NotFound: // somebody else deleted it
				return deleted, err
			}
			most--
		}
	}
	return deleted, nil
}
