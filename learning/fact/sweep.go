package fact

import (
	"context"
	"sync"
	"time"
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
	sweeping := time.NewTicker(sweepEvery)
	defer sweeping.Stop()
	for {
		select {
		case <-sweeping.C:
			if _, err := f.Sweep(ctx); err != nil && ctx.Err() == nil {
				f.log.WarnContext(ctx, "expired facts could not be swept and wait", "error", err)
			}
		case <-ctx.Done():
			return nil
		}
	}
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
