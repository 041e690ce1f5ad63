package feed

import (
	"context"
	"time"

	"github.com/skillrouter/skillrouter/internal/committer"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/router/follow"
)

// Log is the event log of one database, whose oldest events can be removed.
type Log interface {
	follow.EventLog
	// FirstEvent returns the seq of the oldest event, 0 if there is none.
	FirstEvent(ctx context.Context) (int64, error)
	// SweepEvents removes up to limit of the oldest events, which are from before a time and not behind a seq, but never the newest.
	SweepEvents(ctx context.Context, through int64, before time.Time, limit int) (removed int, err error)
}

// Pace of the sweep: soon after the start, and up to 50,000 events of each log each time, in steps between which other writes have their turn.
const (
	sweepFirst = time.Minute
	sweepEvery = 10 * time.Minute
	sweepStep  = 500
	sweepSteps = 100
)

// sweeping sweeps until ctx ends.
func (f *Feed) sweeping(ctx context.Context) {
	for wait := sweepFirst; f.ports.Keep > 0 && committer.Pause(ctx, wait) == nil; wait = sweepEvery {
		if err := f.Sweep(ctx); err != nil && ctx.Err() == nil {
			f.log.WarnContext(ctx, "old events cannot be removed", "error", err)
		}
	}
}

// Sweep removes what happened longer ago than it is kept: events that have a number and that all who follow their log have passed, and then
// the numbers that stand for nothing any more.
func (f *Feed) Sweep(ctx context.Context) error {
	before := f.ports.Now().Add(-f.ports.Keep)
	ends, gone := f.Ends(), map[operational.FeedSource]int64{}
	for source, log := range map[operational.FeedSource]Log{operational.FeedLearning: f.ports.Learning, operational.FeedOperational: f.ports.Operational} {
		followed, err := f.journal.Followed(ctx, string(source))
		if err != nil {
			return err
		}
		for removed, step := sweepStep, 0; removed == sweepStep && step < sweepSteps; step++ {
			if removed, err = log.SweepEvents(ctx, min(followed, ends[source]), before, sweepStep); err != nil {
				return err
			}
		}
		first, err := log.FirstEvent(ctx)
		if err != nil {
			return err
		}
		gone[source] = first - 1
	}
	sent, err := f.journal.MessageBefore(ctx, before)
	if err != nil {
		return err
	}
	gone[operational.FeedMessages] = min(sent, ends[operational.FeedMessages])
	f.mu.Lock()
	f.tail.forget(before)
	f.mu.Unlock()
	return f.journal.SweepFeed(ctx, gone)
}

// forget drops the events at the beginning that are from before a time.
func (t *tail) forget(before time.Time) {
	for len(t.items) > 0 && t.items[0].At.Before(before) {
		t.bytes -= t.items[0].size()
		t.floor, t.items = t.items[0].Seq, t.items[1:]
	}
}
