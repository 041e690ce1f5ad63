package learning

import (
	"context"

	"skillrouter/internal/check"
	"skillrouter/internal/committer"
	"skillrouter/internal/principal"
)

// Clear deletes a persona's memories of a kind, at most most of them, a step at a time, so that no write waits long behind it, and
// returns how many there were. Each step is a transaction of its own; what a crash leaves, the next call deletes. once deletes up
// to limit of them, and returns how many of those count and how many it has seen to. It needs ScopeCaptain.
func Clear(
	ctx context.Context, persona string, most, step int, once func(ctx context.Context, persona string, limit int) (counted int64, all int, err error),
) (deleted int64, err error) {
	ctx = committer.Essential(ctx) // it makes room
	if err := principal.Of(ctx).Need(principal.ScopeCaptain); err != nil {
		return 0, err
	}
	if persona, err = check.Persona(persona); err != nil {
		return 0, err
	}
	for all := step; most > 0 && all >= step; most -= all {
		var counted int64
		counted, all, err = once(ctx, persona, min(most, step))
		if deleted += counted; err != nil {
			return deleted, err
		}
	}
	return deleted, nil
}
