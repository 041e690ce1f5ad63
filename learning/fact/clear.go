package fact

import (
	"cmp"
	"context"

	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/internal/tally"
)

// clearStep is how many facts one transaction of Clear deletes.
const clearStep = 200

// Clear deletes a persona's facts, of one category or, if that is empty, of
// all: those that were there when it was called, at most most of them, and
// returns how many of them had not expired. It needs ScopeCaptain.
func (f *Facts) Clear(ctx context.Context, persona, category string, most int) (deleted int64, err error) {
	return tally.Clear(ctx, persona, most, clearStep, f.store.LastFactVersion, func(ctx context.Context, persona string, last int64, limit int) (int64, int, error) {
		return f.clearOnce(ctx, Clearing{Persona: persona, Category: category, UpTo: last}, limit)
	})
}

// clearOnce deletes a step's facts and tells of each.
func (f *Facts) clearOnce(ctx context.Context, clearing Clearing, limit int) (live int64, all int, err error) {
	var gone []Fact
	by := principal.Of(ctx).AgentID
	err = f.change(ctx, func(tx Tx) (err error) {
		at := f.now.Stamp()
		live = 0
		if gone, err = tx.ClearFacts(clearing, limit); err != nil {
			return err
		}
		for _, fact := range gone {
			if fact.Live(at) {
				live++
			}
			agent := cmp.Or(by, fact.Author)
			if err := addEvent(tx, EventDeleted, fact, agent, at); err != nil {
				return err
			}
		}
		return nil
	}, func() {
		for _, fact := range gone {
			id := ID(fact.Persona, fact.Key)
			f.uses.Forget(id)
			f.Remove(id)
		}
	})()
	return live, len(gone), err
}
