package feedback

import (
	"context"
	"errors"
	"slices"
	"time"

	"skillrouter/internal/errs"
	"skillrouter/internal/principal"
	"skillrouter/learning"
	"skillrouter/learning/episode"
	"skillrouter/learning/knowledge"
	"skillrouter/learning/lesson"
)

// Bounds of the background work.
const (
	gapsEvery = time.Second // how often misses are written
	// gapsCheckEvery is how often open gaps are asked again while something is being
	// stored, and gapsCheckStep how many at a time: at most ten searches a second.
	gapsCheckEvery = 5 * time.Second
	gapsCheckStep  = 50
	// gapsLast is how long the last misses may take to be written when the process stops.
	gapsLast = 500 * time.Millisecond
)

// Run writes what was gathered and asks open gaps again when something was
// stored, until ctx ends; then it writes the last misses and returns nil. The
// store must take writes until it returns.
func (g *Gaps) Run(ctx context.Context) error {
	writing, checking := time.NewTicker(gapsEvery), time.NewTicker(gapsCheckEvery)
	defer writing.Stop()
	defer checking.Stop()
	rung, changedAt := g.rings(), g.now.Stamp().Add(-time.Millisecond) // what was stored before the start may answer what was asked before it
	for ctx.Err() == nil {
		select {
		case <-writing.C:
			g.warn(ctx, g.Flush(ctx))
		case <-rung:
			rung, changedAt = g.rings(), g.now.Stamp()
		case <-checking.C:
			g.warn(ctx, g.checkSome(ctx, changedAt))
		case <-ctx.Done():
		}
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), gapsLast)
	defer cancel()
	g.warn(last, g.write(last, time.Time{}))
	return nil
}

func (g *Gaps) rings() <-chan struct{} {
	if g.changed == nil {
		return nil
	}
	return g.changed.Wait()
}

func (g *Gaps) warn(ctx context.Context, err error) {
	if err != nil && !errors.Is(err, context.Canceled) {
		g.log.WarnContext(ctx, "questions that found nothing could not be noted", "error", err)
	}
}

// Flush writes the misses that have settled. What cannot be written is lost,
// rather than kept for a disk that is full.
func (g *Gaps) Flush(ctx context.Context) error { return g.write(ctx, g.now.Stamp().Add(-gapSettles)) }

func (g *Gaps) write(ctx context.Context, before time.Time) error {
	misses := g.gathered.take(before)
	if len(misses) == 0 {
		return nil
	}
	slices.SortFunc(misses, func(a, b GapMisses) int { return a.Last.Compare(b.Last) })
	return g.store.AddMisses(ctx, misses, MaxGaps)
}

// checkSome asks open gaps again that were not since something changed.
func (g *Gaps) checkSome(ctx context.Context, changed time.Time) error {
	ctx = principal.With(ctx, principal.System())
	gaps, err := g.store.OpenGaps(ctx, changed, gapsCheckStep)
	if err != nil {
		return err
	}
	at := g.now.Stamp()
	var vainly []string
	for i := range gaps {
		by, err := g.answers(ctx, &gaps[i])
		if err != nil {
			return err
		}
		if by == "" {
			vainly = append(vainly, gaps[i].ID)
			continue
		}
		if _, err := g.answered(ctx, gaps[i].ID, by); err != nil && errs.CodeOf(err) != errs.NotFound {
			return err
		}
	}
	if len(vainly) == 0 {
		return nil
	}
	return g.store.MarkChecked(ctx, vainly, at)
}

// Check implements GapService.
func (g *Gaps) Check(ctx context.Context, id string) (Gap, error) {
	if err := principal.Of(ctx).Keeping().Need(principal.ScopeAgent); err != nil {
		return Gap{}, err
	}
	gap, err := g.Gap(ctx, id)
	if err != nil || gap.Status != GapOpen {
		return gap, err
	}
	by, err := g.answers(ctx, &gap)
	if err != nil || by == "" {
		return gap, err
	}
	return g.answered(ctx, id, by)
}

func (g *Gaps) answered(ctx context.Context, id, by string) (Gap, error) {
	at := g.now.Stamp()
	return g.store.ChangeGap(ctx, id, func(gap *Gap) error {
		if gap.Status == GapOpen {
			gap.Status, gap.AnsweredBy, gap.SettledAt = GapAnswered, by, &at
		}
		return nil
	})
}

// answers asks a gap's question again where it was asked, and returns kind/id
// of the best that is found, or "".
func (g *Gaps) answers(ctx context.Context, gap *Gap) (string, error) {
	ctx = learning.NotAsked(ctx)
	in := func(place learning.GapPlace) bool {
		return slices.Contains(gap.AskedIn, place) || slices.Contains(gap.AskedIn, learning.GapInQuery) || slices.Contains(gap.AskedIn, learning.GapInSearch)
	}
	if g.sources.Knowledge != nil && in(learning.GapInKnowledge) {
		found, err := g.sources.Knowledge.Find(ctx, knowledge.Query{Query: gap.Question, Project: gap.Project, Limit: 1})
		if err != nil {
			return "", err
		}
		if len(found.Results) > 0 && !found.NoMatch {
			return "knowledge/" + found.Results[0].ID, nil
		}
	}
	if g.sources.Lessons != nil && in(learning.GapInLessons) {
		found, err := g.sources.Lessons.Relevant(ctx, lesson.Query{Context: gap.Question, Project: gap.Project, Limit: 1})
		if err != nil {
			return "", err
		}
		if len(found.Results) > 0 && !found.NoMatch {
			return "lesson/" + found.Results[0].ID, nil
		}
	}
	if g.sources.Episodes != nil && in(learning.GapInEpisodes) {
		found, err := g.sources.Episodes.Search(ctx, episode.Query{Query: gap.Question, Project: gap.Project, Limit: 1})
		if err != nil {
			return "", err
		}
		if len(found.Results) > 0 && !found.NoMatch {
			return "episode/" + found.Results[0].ID, nil
		}
	}
	return "", nil
}
