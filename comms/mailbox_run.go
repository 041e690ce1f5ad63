package comms

import (
	"context"
	"time"
)

const (
	// handedEvery is how often delivery marks are written; a crash loses at
	// most that much of them, and no message.
	handedEvery = 2 * time.Second
	// sweepEvery, sweepWindows and sweepWindow pace the sweep of old messages: up
	// to 50,000 a minute are examined, in pieces of a few milliseconds between
	// which signals go on.
	sweepEvery   = time.Minute
	sweepWindows = 100
	sweepWindow  = 500
)

// Run writes delivery marks and sweeps old messages away, until ctx ends; then
// it writes the marks that are left. The committer must outlive it.
func (b *Mailbox) Run(ctx context.Context) error {
	save := time.NewTicker(handedEvery)
	defer save.Stop()
	sweep := time.NewTicker(sweepEvery)
	defer sweep.Stop()
	var at int64 // where the sweep goes on
	for {
		select {
		case <-save.C:
			if err := b.saveDeliveries(ctx); err != nil && ctx.Err() == nil {
				b.log.Error("delivery marks could not be written", "error", err)
			}
		case <-sweep.C:
			var err error
			if at, err = b.sweep(ctx, at); err != nil && ctx.Err() == nil {
				b.log.Error("old messages could not be swept away", "error", err)
			}
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTimeout)
			defer cancel()
			return b.saveDeliveries(last)
		}
	}
}

// sweep examines the oldest messages after a seq, and returns where to go on.
func (b *Mailbox) sweep(ctx context.Context, at int64) (int64, error) {
	if b.options.Retention <= 0 {
		return 0, nil
	}
	deleted := 0
	for range sweepWindows {
		swept, err := b.store.Sweep(ctx, at, b.now().Add(-b.options.Retention), sweepWindow)
		if err != nil {
			return at, err
		}
		deleted += swept.Deleted
		if at = swept.Next; at == 0 {
			break
		}
	}
	if deleted > 0 {
		b.log.Info("old messages swept away", "deleted", deleted)
	}
	return at, nil
}
