package app

import (
	"context"
	"time"

	"skillrouter"
	"skillrouter/cmd/hook/offline"
	"skillrouter/learning/guard"
)

// How often the copy of the guard's rules is written.
const (
	// copyGather is how long a change of the rules is held back for others to join it, so that a bulk of reports is no bulk of copies.
	copyGather = time.Second
	// copyEvery is how often it is written though nothing changed, so that its age says since when the router is away.
	copyEvery = 5 * time.Minute
)

// keepGuardCopy writes the guard's rules to where hooks find them that get no answer, until ctx ends. A copy that cannot be
// written is told and tried again; the guard goes on without it.
func (a *App) keepGuardCopy(ctx context.Context, guards *guard.Guards) error {
	failing := false
	write := func() {
		c := guards.Copy()
		c.Router, c.Version = a.URL(), a.options.Version
		err := offline.Write(a.config.Data, c)
		switch {
		case err != nil && !failing:
			a.log.Warn("the copy of the guard's rules, for hooks that get no answer, cannot be written", "error", err)
		case err == nil && failing:
			a.log.Info("the copy of the guard's rules is written again")
		}
		failing = err != nil
	}
	again := time.NewTicker(copyEvery)
	defer again.Stop()
	write()
	for {
		select {
		case <-ctx.Done():
			select {
			case <-guards.Changed():
				write()
			default:
			}
			return nil
		case <-again.C:
		case <-guards.Changed():
			_ = skillrouter.Pause(ctx, copyGather) // at the end what waits is written at once
		}
		write()
	}
}
