package respond

import (
	"context"
	"testing"
	"time"
)

// TestHeardAsTimeIsUp has a check-in answered when the time for it is up too: what it brought is told.
func TestHeardAsTimeIsUp(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 100 {
		a := &attendance{begun: time.Now().Add(-toldTime), done: make(chan struct{})}
		close(a.done)
		if err := a.wait(ctx, toldTime); err != nil || !a.heard {
			t.Fatalf("heard: %t, %v", a.heard, err)
		}
	}
}
