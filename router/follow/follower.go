// Package follow reads an event log from where it stood at the last start, and hands each event to a handler, in
// order and at least once, whatever happens in between. The place is kept as a cursor. It knows no event.
package follow

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/skillrouter/skillrouter/internal/committer"
	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/operational"
)

// EventLog is the event log of one database.
type EventLog interface {
	// Events returns up to limit events after seq, in order.
	Events(ctx context.Context, after int64, limit int) ([]eventlog.Event, error)
	// LastEvent returns the seq of the newest event, 0 if there is none.
	LastEvent(ctx context.Context) (int64, error)
	// EventBell rings after each commit that wrote an event.
	EventBell() *committer.Bell
}

// Cursors keep how far followers have come; operational.Escalations does.
type Cursors interface {
	Cursor(ctx context.Context, name string) (seq int64, ok bool, err error)
	SaveCursor(ctx context.Context, cursor operational.Cursor) error
}

// Pace of a follower.
const (
	// followBatch is the most events that are handled together. What they set off is
	// written in one transaction, for which the others of that database wait.
	followBatch = 256
	// GatherFor is how long a follower that was woken waits for more, so that under load
	// the events of many reports share a transaction. Whoever settles skips it.
	GatherFor = 100 * time.Millisecond
	// saveEvery is how long a cursor that moved past events of no consequence may stay in
	// memory: after a kill these are passed over once more.
	saveEvery = 2 * time.Second
	// RetryAfter is how long a follower waits after a failure: the disk may be full.
	RetryAfter = time.Second
)

// Follower hands an event log's events to a handler, in order, each at least
// once whatever happens, and from where it stood at the last start.
type Follower struct {
	Name    string
	Log     EventLog
	Cursors Cursors
	Logger  *slog.Logger
	// handle deals with a batch, and tells whether it stored the cursor together with
	// what it wrote. It must do no harm if it is handed the same events again.
	Handle func(ctx context.Context, events []eventlog.Event, cursor operational.Cursor) (stored bool, err error)
	// resume, which may be nil, takes up what a kill or a failure left half done.
	Resume func(ctx context.Context) error
	hurry  chan struct{} // somebody waits: do not gather
	half   bool          // something may have been left half done

	mu       sync.Mutex
	handled  int64 // every event up to and including this
	progress committer.Bell
}

// Begin reads the cursor. A log that was never followed is followed from the
// given seq on, which is stored at once, so that what comes before the first
// kill is not taken for what was there before.
func (f *Follower) Begin(ctx context.Context, otherwise func(ctx context.Context) (int64, error)) error {
	seq, ok, err := f.Cursors.Cursor(ctx, f.Name)
	if err != nil {
		return err
	}
	if !ok {
		if seq, err = otherwise(ctx); err != nil {
			return err
		}
		if err := f.Cursors.SaveCursor(ctx, operational.Cursor{Name: f.Name, Seq: seq}); err != nil {
			return err
		}
	}
	f.hurry, f.half, f.handled = make(chan struct{}, 1), true, seq
	return nil
}

// Run follows the log until ctx ends.
func (f *Follower) Run(ctx context.Context) error {
	saved := f.position()
	due := time.NewTicker(saveEvery)
	defer due.Stop()
	for {
		rung := f.Log.EventBell().Wait()
		more, stored, err := f.step(ctx)
		if stored {
			saved = f.position()
		}
		switch {
		case ctx.Err() != nil:
			f.finish(ctx, saved)
			return nil
		case err != nil:
			f.half = true
			f.Logger.Error("events cannot be followed; trying again", "log", f.Name, "after", f.position(), "error", err)
			_ = committer.PauseUntil(ctx, RetryAfter, f.hurry)
			continue
		case more:
			continue
		}
		select {
		case <-rung:
			_ = committer.PauseUntil(ctx, GatherFor, f.hurry)
		case <-f.hurry:
		case <-due.C:
			if at := f.position(); at > saved && f.Cursors.SaveCursor(ctx, operational.Cursor{Name: f.Name, Seq: at}) == nil {
				saved = at
			}
		case <-ctx.Done():
		}
	}
}

// step handles the next batch, and tells whether there may be more.
func (f *Follower) step(ctx context.Context) (more, stored bool, err error) {
	if f.half {
		if err := f.pickUp(ctx); err != nil {
			return false, false, err
		}
		f.half = false
	}
	events, err := f.Log.Events(ctx, f.position(), followBatch)
	if err != nil || len(events) == 0 {
		return false, false, err
	}
	last := events[len(events)-1].Seq
	if stored, err = f.Handle(ctx, events, operational.Cursor{Name: f.Name, Seq: last}); err != nil {
		return false, false, err
	}
	f.mu.Lock()
	f.handled = last
	f.mu.Unlock()
	f.progress.Ring()
	return len(events) == followBatch, stored, nil
}

// pickUp goes on from what is stored: what failed may have been stored all the same.
func (f *Follower) pickUp(ctx context.Context) error {
	seq, _, err := f.Cursors.Cursor(ctx, f.Name)
	if err != nil {
		return err
	}
	f.mu.Lock()
	f.handled = max(f.handled, seq)
	f.mu.Unlock()
	f.progress.Ring()
	if f.Resume == nil {
		return nil
	}
	return f.Resume(ctx)
}

func (f *Follower) position() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.handled
}

// finish stores the cursor at the end of a clean stop.
func (f *Follower) finish(ctx context.Context, saved int64) {
	if at := f.position(); at > saved {
		if err := f.Cursors.SaveCursor(context.WithoutCancel(ctx), operational.Cursor{Name: f.Name, Seq: at}); err != nil {
			f.Logger.Warn("a cursor cannot be stored", "log", f.Name, "error", err)
		}
	}
}

// Settle waits until what was committed when it was called is handled, at most
// for a while.
func (f *Follower) Settle(ctx context.Context, atMost time.Duration) error {
	last, err := f.Log.LastEvent(ctx)
	if err != nil {
		return err
	}
	limit := time.NewTimer(atMost)
	defer limit.Stop()
	for {
		moved := f.progress.Wait()
		if f.position() >= last {
			return nil
		}
		committer.Nudge(f.hurry)
		select {
		case <-moved:
		case <-limit.C:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
