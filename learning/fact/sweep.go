package fact

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/skillrouter/skillrouter/internal/committer"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/internal/tally"
)

// Bounds of the sweep. That an expired fact is not answered needs no sweep;
// the sweep tells of it and, later, gives its place on the disk back.
const (
	sweepEvery = time.Second
	// sweepStep is how many facts one transaction expires or drops: a few milliseconds,
	// for which the other writers wait.
	sweepStep = 200
	// sweepSteps is how many steps follow each other before the ticker is waited for again.
	sweepSteps = 50
)

// Run sweeps expired facts and writes access counts until ctx ends; then it
// writes the last counts and returns nil. The store must take writes until it returns.
func (f *Facts) Run(ctx context.Context) error {
	var counting sync.WaitGroup
	counting.Go(func() { f.uses.Run(ctx) })
	defer counting.Wait()
	for committer.Pause(ctx, sweepEvery) == nil {
		if _, err := f.Sweep(ctx); err != nil && ctx.Err() == nil {
			f.log.WarnContext(ctx, "expired facts could not be swept and wait", "error", err)
		}
	}
	return nil
}

// Sweep tells of the facts that have expired, once for each, and drops those
// that expired StaleRetention ago. It returns how many it told of. Each step is
// a transaction of its own; a long sweep ends in between and goes on with the next call.
func (f *Facts) Sweep(ctx context.Context) (told int, err error) {
	for range sweepSteps {
		at := f.now.Stamp()
		due, err := f.store.FactsDue(ctx, at, at.Add(-StaleRetention))
		if err != nil || !due {
			return told, err
		}
		n, err := f.sweepOnce(ctx)
		if err != nil {
			return told, err
		}
		told += n
	}
	return told, nil
}

func (f *Facts) sweepOnce(ctx context.Context) (told int, err error) {
	var dropped []Fact
	err = f.change(ctx, func(tx Tx) error {
		at := f.now.Stamp()
		expired, err := tx.ExpireFacts(at, sweepStep)
		if err != nil {
			return err
		}
		told = len(expired)
		for _, fact := range expired {
			if err := addEvent(tx, EventExpired, fact, fact.Author, at); err != nil {
				return err
			}
		}
		dropped, err = tx.DropFacts(at.Add(-StaleRetention), sweepStep)
		return err
	}, func() {
		for _, fact := range dropped {
			f.Remove(ID(fact.Persona, fact.Key))
		}
	})()
	return told, err
}

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
