package learning

import (
	"context"
	"sync"
	"time"
)

// Recollection is the reading in, after a start, of what reports of lessons are
// compared with: the likeness of every lesson, and the representatives of the
// patterns. Searches need none of it. Whoever reports or changes a lesson waits
// for it: a report that were compared with half of the lessons would be stored
// twice, and form patterns of its own.
type Recollection struct {
	mu   sync.Mutex
	done chan struct{} // nil: nothing is to be read in
}

// Begin makes the callers of Wait wait.
func (r *Recollection) Begin() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done = make(chan struct{})
}

// End lets them go on.
func (r *Recollection) End() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.done != nil {
		close(r.done)
		r.done = nil
	}
}

// Wait waits for the end of the reading, or returns ctx's error.
func (r *Recollection) Wait(ctx context.Context) error {
	r.mu.Lock()
	done := r.done
	r.mu.Unlock()
	if done == nil {
		return nil
	}
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// RecallAgain is how long a failed reading waits before it is tried again.
const RecallAgain = time.Second
