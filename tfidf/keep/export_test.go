package keep

import "context"

// Await waits until the index is whole, or returns ctx's error.
func (k *Keeper) Await(ctx context.Context) error {
	k.mu.Lock()
	complete := k.complete
	k.mu.Unlock()
	select {
	case <-complete:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
