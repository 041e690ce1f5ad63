// Package tally counts what a memory has.
package tally

import (
	"context"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/committer"
	"github.com/skillrouter/skillrouter/internal/principal"
)

// Tally counts what a memory has of one persona in one category.
type Tally struct {
	Persona  string // empty: it is the whole team's
	Category string
	Count    int64
	Expired  int64 // not in Count: what has expired and is still kept
	Bytes    int64 // of the texts and values of all, expired ones too
}

// Columns are where the columns of a query of tallies go: persona, category, expired, count, bytes.
func (t *Tally) Columns() []any {
	return []any{&t.Persona, &t.Category, &t.Expired, &t.Count, &t.Bytes}
}

// Step deletes up to limit rows of a persona that were there when it was called, those of last or a lesser number. It returns how many it deleted, and how
// many of them count.
type Step func(ctx context.Context, persona string, last int64, limit int) (counted int64, all int, err error)

// Clear deletes a persona's rows, at most most of them, and returns how many of them counted. Each step, of at most so many rows, is a transaction of its own, so
// that no write waits for more than a few milliseconds behind it; what a crash leaves, the next call deletes. It needs ScopeCaptain. last may be nil.
func Clear(ctx context.Context, persona string, most, step int, last func(ctx context.Context) (int64, error), once Step) (deleted int64, err error) {
	ctx = committer.Essential(ctx) // it makes room
	if err := principal.Of(ctx).Need(principal.ScopeCaptain); err != nil {
		return 0, err
	}
	if persona, err = check.Persona(persona); err != nil {
		return 0, err
	}
	number := int64(0)
	if last != nil {
		if number, err = last(ctx); err != nil {
			return 0, err
		}
	}
	for most > 0 {
		limit := min(most, step)
		counted, all, err := once(ctx, persona, number, limit)
		deleted += counted
		if most -= all; err != nil || all < limit {
			return deleted, err
		}
	}
	return deleted, nil
}
