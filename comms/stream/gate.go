package stream

import (
	"context"
	"sync"
)

// gate knows who is connected, and lets nobody in once it is shut.
type gate[C interface {
	comparable
	end() // makes it say farewell and end, also if a write hangs
}] struct {
	mu      sync.Mutex
	inside  map[C]struct{}
	closing bool
	idle    chan struct{} // closed when the last one has left while closing
}

// enter lets a connection in while there are fewer than most.
func (g *gate[C]) enter(c C, most int) (entered, closing bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closing || len(g.inside) >= most {
		return false, g.closing
	}
	if g.inside == nil {
		g.inside = map[C]struct{}{}
	}
	g.inside[c] = struct{}{}
	return true, false
}

func (g *gate[C]) leave(c C) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.inside, c)
	if g.closing && len(g.inside) == 0 {
		close(g.idle)
	}
}

// shut ends every connection and lets none in any more. It returns when all
// have left, or with ctx's error.
func (g *gate[C]) shut(ctx context.Context) error {
	g.mu.Lock()
	if !g.closing {
		g.closing, g.idle = true, make(chan struct{})
		if len(g.inside) == 0 {
			close(g.idle)
		}
	}
	for c := range g.inside {
		c.end()
	}
	idle := g.idle
	g.mu.Unlock()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// count is how many are connected.
func (g *gate[C]) count() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.inside)
}
