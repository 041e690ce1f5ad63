package keep

import (
	"context"
	"time"
)

// Await waits until the index is whole, or returns ctx's error.
func (k *Keeper) Await(ctx context.Context) error {
	for !k.Complete() {
		select {
		case <-time.After(time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
