package skillrouter

import "sync"

// Bell wakes everyone who waits for more rows of a log. It carries nothing:
// the log is the truth, and whoever is woken reads it from where they stand.
// The zero Bell is ready for use.
type Bell struct {
	mu sync.Mutex
	ch chan struct{}
}

// Wait returns a channel that is closed at the next Ring. Take it before you
// read the log, so that a ring between the reading and the waiting is seen.
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
