// Package feedback stores what users say of answers: questions that found nothing (gaps), judgements
// of what was found, and corrections of the router's choice of a store.
package feedback

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"skillrouter/internal/check"
	"skillrouter/internal/clock"
	"skillrouter/internal/committer"
	"skillrouter/internal/errs"
	"skillrouter/internal/principal"
	"skillrouter/internal/redact"
	"skillrouter/learning"
	"skillrouter/learning/episode"
	"skillrouter/learning/knowledge"
	"skillrouter/learning/lesson"
)

// Gaps is the GapService beside the database, and gathers the misses of
// searches. Misses are an aid to those who tend the memory: they are written in
// batches after the answers are given, and those of the last seconds are lost
// with a process that is killed.
type Gaps struct {
	store    GapStore
	sources  GapSources
	changed  *committer.Bell
	now      clock.Clock
	log      *slog.Logger
	gathered *gathered
}

var (
	_ GapService            = (*Gaps)(nil)
	_ learning.MissObserver = (*Gaps)(nil)
)

// GapSources are what a gap's question is put to again.
type GapSources struct {
	Knowledge KnowledgeFinder
	Episodes  EpisodeFinder
	Lessons   LessonFinder
}

// KnowledgeFinder finds entries and counts no use.
type KnowledgeFinder interface {
	Find(ctx context.Context, query knowledge.Query) (knowledge.Results, error)
}

// EpisodeFinder is what is asked of an episode.Service.
type EpisodeFinder interface {
	Search(ctx context.Context, query episode.Query) (episode.Results, error)
}

// LessonFinder is what is asked of a lesson.Service.
type LessonFinder interface {
	Relevant(ctx context.Context, query lesson.Query) (lesson.Results, error)
}

// GapsOptions are the settings of Gaps.
type GapsOptions struct {
	learning.Options
	// Changed rings when something was stored that may answer a gap. nil: gaps are asked
	// again by Check alone.
	Changed *committer.Bell
}

// NewGaps makes Gaps.
func NewGaps(store GapStore, sources GapSources, options GapsOptions) *Gaps {
	o := options.WithDefaults()
	return &Gaps{store: store, sources: sources, changed: options.Changed, now: o.Now, log: o.Log, gathered: newGathered()}
}

// List implements GapService.
func (g *Gaps) List(ctx context.Context, query GapQuery) (GapPage, error) {
	if err := cmp.Or(principal.Of(ctx).Keeping().Need(principal.ScopeRead), checkGapQuery(&query)); err != nil {
		return GapPage{}, err
	}
	after, err := gapMark(query.Cursor)
	if err != nil {
		return GapPage{}, err
	}
	query.Within = principal.Of(ctx).Projects()
	limit := query.Limit
	query.Limit++ // one more tells whether there is a next page
	gaps, total, err := g.store.ListGaps(ctx, query, after)
	if err != nil {
		return GapPage{}, err
	}
	page := GapPage{Gaps: gaps, Total: total}
	if len(gaps) > limit {
		page.Gaps = gaps[:limit]
		last := page.Gaps[limit-1]
		mark := last.LastAsked.UnixMilli()
		if query.Order == GapsOften {
			mark = last.Count
		}
		page.Next = fmt.Sprintf("%d.%s", mark, last.ID)
	}
	page.Count = len(page.Gaps)
	return page, nil
}

func checkGapQuery(query *GapQuery) (err error) {
	query.Status = cmp.Or(query.Status, GapOpen)
	query.Order = cmp.Or(query.Order, GapsRecent)
	if err = cmp.Or(
		check.OneOf("status", query.Status, GapStatuses()),
		check.OneOf("order", query.Order, []GapOrder{GapsRecent, GapsOften}),
		check.Optional("asked_in", query.AskedIn, learning.GapPlaces()),
		check.Name("project", query.Project),
	); err != nil {
		return err
	}
	query.Limit, err = check.Limit(query.Limit, learning.DefaultListing, learning.MaxLimit)
	return err
}

func gapMark(cursor string) (*GapMark, error) {
	if cursor == "" {
		return nil, nil
	}
	value, id, _ := strings.Cut(cursor, ".")
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil || n < 1 || len(id) != 2*learning.GapIDBytes {
		return nil, errs.InvalidField("cursor", "is not one that a listing answered")
	}
	return &GapMark{Value: n, ID: id}, nil
}

// Gap implements GapService.
func (g *Gaps) Gap(ctx context.Context, id string) (Gap, error) {
	if err := cmp.Or(principal.Of(ctx).Keeping().Need(principal.ScopeRead), learning.CheckID("id", id)); err != nil {
		return Gap{}, err
	}
	gap, ok, err := g.store.Gap(ctx, id)
	if err == nil && (!ok || !principal.Of(ctx).Sees(gap.Project)) {
		return Gap{}, NoGap()
	}
	return gap, err
}

// NoGap is the error of a gap that is not there.
func NoGap() error { return errs.Errorf(errs.NotFound, "no gap has this id") }

// Dismiss implements GapService.
func (g *Gaps) Dismiss(ctx context.Context, id, reason string) (Gap, error) {
	if err := check.Text("reason", reason, learning.MaxReason); err != nil {
		return Gap{}, err
	}
	reason, _ = redact.Text(reason)
	return g.settle(ctx, id, func(gap *Gap, by string, at time.Time) {
		if gap.Status != GapDismissed {
			gap.Status, gap.SettledBy, gap.Reason, gap.SettledAt, gap.AnsweredBy = GapDismissed, by, reason, &at, ""
		}
	})
}

// Reopen implements GapService.
func (g *Gaps) Reopen(ctx context.Context, id string) (Gap, error) {
	return g.settle(ctx, id, func(gap *Gap, _ string, _ time.Time) { gap.open() })
}

func (gap *Gap) open() {
	gap.Status, gap.SettledBy, gap.Reason, gap.SettledAt, gap.AnsweredBy = GapOpen, "", "", nil, ""
}

func (g *Gaps) settle(ctx context.Context, id string, change func(gap *Gap, by string, at time.Time)) (Gap, error) {
	caller := principal.Of(ctx).Keeping()
	if err := cmp.Or(caller.Need(principal.ScopeAgent), learning.CheckID("id", id)); err != nil {
		return Gap{}, err
	}
	return g.store.ChangeGap(ctx, id, func(gap *Gap) error {
		if !caller.Sees(gap.Project) {
			return NoGap()
		}
		change(gap, caller.AgentID, g.now.Stamp())
		return nil
	})
}
