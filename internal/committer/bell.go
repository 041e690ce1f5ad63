package committer

import (
	"context"
	"sync"
	"time"
)

// Bell wakes those who wait for more rows of a log. It carries no data: whoever wakes reads
// the log from the place where it stopped. The zero Bell is ready for use.
type Bell struct {
	mu sync.Mutex
	ch chan struct{}
}

// Wait returns a channel that is closed at the next Ring. Take the channel before you read
// the log; otherwise a ring between the two is missed.
func (b *Bell) Wait() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ch == nil {
		b.ch = make(chan struct{})
	}
	return b.ch
}

// Ring wakes all who wait.
func (b *Bell) Ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ch != nil {
		close(b.ch)
		b.ch = nil
	}
}

// Follow does step, and does it again whenever the bell has rung, until ctx ends. After a ring
// it waits for gather, so that one step takes in what comes in a row. A step that failed is done
// again after retry; failed is told of its error, unless ctx has ended.
func (b *Bell) Follow(ctx context.Context, gather, retry time.Duration, step func() error, failed func(err error)) {
	for ctx.Err() == nil {
		rung := b.Wait()
		if err := step(); err != nil {
			if ctx.Err() == nil {
				failed(err)
			}
			_ = Pause(ctx, retry)
			continue
		}
		select {
		case <-rung:
			_ = Pause(ctx, gather)
		case <-ctx.Done():
		}
	}
}

// Nudge has whoever reads from a channel of one place look again, and never waits: what
// stands in the channel already says the same.
func Nudge(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Pause waits for a while. When ctx ends it returns ctx's error, at once.
func Pause(ctx context.Context, d time.Duration) error { return PauseUntil(ctx, d, nil) }

// PauseUntil is Pause, which ends sooner when wake gives something or is closed.
func PauseUntil(ctx context.Context, d time.Duration, wake <-chan struct{}) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-wake:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
