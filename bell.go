package skillrouter

import "sync"

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
