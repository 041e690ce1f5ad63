package lesson

import (
	"context"
	"time"

	"github.com/skillrouter/skillrouter/internal/committer"
)

// recall reads in the representatives of the patterns,
// whose words it has from the lessons.
func (p *Patterns) recall(ctx context.Context) error {
	return p.store.ScanPatterns(ctx, func(chunk []Pattern) error {
		for i := range chunk {
			p.represent(&chunk[i])
		}
		return ctx.Err()
	})
}

// represent remembers a pattern by the words of its representative.
func (p *Patterns) represent(pattern *Pattern) {
	if words, there := p.like.WordsOf(pattern.Representative); there && pattern.Command == "" {
		p.reps.Put(pattern.ID, words)
	}
}

// Run deprecates patterns that have faded, until ctx ends, and returns nil then.
func (p *Patterns) Run(ctx context.Context) error {
	for {
		if _, err := p.Fade(ctx); err != nil && ctx.Err() == nil {
			p.log.Error("could not deprecate faded patterns", "error", err)
		}
		if committer.Pause(ctx, patternSweep) != nil {
			return nil
		}
	}
}

// Fade deprecates the patterns of lessons of which less than
// DeprecationConfidence is left, or whose lessons are all retired, and those of operations
// that have lacked the weight for a whole OperationWindow. It returns how many. Unlike one that somebody deprecated, such a pattern emerges anew
// when it is seen again.
func (p *Patterns) Fade(ctx context.Context) (int, error) {
	total := 0
	for {
		at := p.now.Stamp()
		ids, err := p.store.FadedPatterns(ctx, DeprecationConfidence, at, at.Add(-OperationWindow), patternSweepMax)
		if err != nil || len(ids) == 0 {
			return total, err
		}
		faded := 0
		var enforce []func()
		if err := p.store.Change(ctx, func(tx PipelineTx) error {
			faded, enforce = 0, nil
			for _, id := range ids {
				pattern, changed, err := p.fade(tx, id, at)
				if err != nil {
					return err
				}
				if !changed {
					continue
				}
				faded++
				follow, err := p.enforcing(tx, pattern, at)
				if err != nil {
					return err
				}
				if follow != nil {
					enforce = append(enforce, follow)
				}
			}
			return nil
		}, func() {
			for _, follow := range enforce {
				follow()
			}
		})(); err != nil {
			return total, err
		}
		if total += faded; faded < len(ids) {
			return total, nil
		}
	}
}

// fade deprecates a pattern if it has still faded.
func (p *Patterns) fade(tx PipelineTx, id string, at time.Time) (Pattern, bool, error) {
	pattern, found, err := tx.PatternOf(id)
	if err != nil || !found || pattern.Status == PatternDeprecated {
		return pattern, false, err
	}
	reason := "its confidence has decayed"
	if pattern.OperationType != "" {
		if !pattern.LastSeen.Before(at.Add(-OperationWindow)) {
			return pattern, false, nil
		}
		reason = "its weight was too low for 30 days"
	} else if pattern.At(at) >= DeprecationConfidence {
		active, err := tx.ActiveEvidence(id)
		if err != nil || active {
			return pattern, false, err
		}
		reason = "all its lessons are retired"
	}
	pattern.Status, pattern.ConfirmedBy, pattern.ConfirmedAt = PatternDeprecated, "", nil
	if pattern.UpdatedAt.Before(at) {
		pattern.UpdatedAt = at
	}
	if err := tx.UpdatePattern(pattern); err != nil {
		return pattern, false, err
	}
	return pattern, true, tx.AddEvents(PatternTold(EventPatternDeprecated, &pattern, "", reason, at))
}
