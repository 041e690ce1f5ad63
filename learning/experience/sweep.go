package experience

import (
	"context"
	"errors"
	"time"

	"github.com/skillrouter/skillrouter/internal/committer"
	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/learning/episode"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

const (
	// sweepEvery is how often what was kept long enough is looked for: retention is
	// counted in days, and nobody misses an hour.
	sweepEvery = time.Hour
	// sweepStep is how many rows one transaction of the sweep removes, so that no write waits
	// for more than a few milliseconds behind it, and sweepSteps how many such steps one
	// sweep takes of each kind.
	sweepStep  = 200
	sweepSteps = 500
)

// Swept says what a sweep did.
type Swept struct {
	Episodes int // experiences that were forgotten
	Patterns int // patterns that were forgotten
}

// Run sweeps until ctx ends, and returns nil.
func (x *Experiences) Run(ctx context.Context) error {
	for {
		swept, err := x.Sweep(ctx)
		switch {
		case err != nil && ctx.Err() == nil:
			x.log.Error("old experiences could not be swept away", "error", err)
		case swept != Swept{}:
			x.log.Info("old experiences swept away", "episodes", swept.Episodes, "patterns", swept.Patterns)
		}
		if committer.Pause(ctx, sweepEvery) != nil {
			return nil
		}
	}
}

// Sweep forgets the experiences and patterns that were kept long enough, in
// small transactions. Lessons are never forgotten, nor are the patterns
// that they were learned from and those that somebody confirmed.
func (x *Experiences) Sweep(ctx context.Context) (swept Swept, err error) {
	now := x.now.Stamp()
	var errs [2]error
	if keep := x.options.KeepEpisodes; keep > 0 {
		swept.Episodes, errs[0] = repeat(func() (int, error) { return x.forgetEpisodes(ctx, now.Add(-keep), now.Add(-2*keep), now) })
	}
	if keep := x.options.KeepPatterns; keep > 0 {
		swept.Patterns, errs[1] = repeat(func() (int, error) { return x.forgetPatterns(ctx, now.Add(-keep), now) })
	}
	return swept, errors.Join(errs[:]...)
}

// repeat takes steps until one finds less than it can do.
func repeat(step func() (int, error)) (total int, err error) {
	for range sweepSteps {
		done, err := step()
		total += done
		if err != nil || done < sweepStep {
			return total, err
		}
	}
	return total, nil
}

func (x *Experiences) forgetEpisodes(ctx context.Context, before, keep, now time.Time) (int, error) {
	numbers, err := x.store.ExpiredExperiences(ctx, before, keep, sweepStep)
	if err != nil || len(numbers) == 0 {
		return 0, err
	}
	var ids []string
	err = x.store.ChangeExperiences(ctx, func(tx Tx) (err error) {
		if ids, err = tx.DropExperiences(numbers, before); err != nil || len(ids) == 0 {
			return err
		}
		event := eventlog.Event{Type: episode.EventExperiencesSwept, Subject: "episodes", At: now}
		return tx.AddEvents(event.With(SweptEvent{Count: len(ids), Before: before, IDs: ids}))
	}, func() { x.episodes.Remove(ids...) })()
	return len(ids), err
}

func (x *Experiences) forgetPatterns(ctx context.Context, before, now time.Time) (int, error) {
	ids, err := x.store.ExpiredPatterns(ctx, before, sweepStep)
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	dropped := 0
	err = x.store.ChangeExperiences(ctx, func(tx Tx) error {
		patterns, err := tx.DropPatterns(ids, before)
		dropped = len(patterns)
		if err != nil {
			return err
		}
		events := make([]eventlog.Event, len(patterns))
		for i := range patterns {
			events[i] = lesson.PatternTold(EventPatternSwept, &patterns[i], "", "it was not seen for as long as patterns are kept", now)
		}
		return tx.AddEvents(events...)
	}, nil)()
	return dropped, err
}
