package stream

import (
	"context"
	"net"
	"net/http"
	"sync"

	"skillrouter/internal/errs"
	"skillrouter/internal/principal"
)

// caller is who opens a connection, and how many of the places that one may
// take. The zero caller may take them all.
type caller struct {
	name string
	most int
}

// callerOf tells who asks for a stream of the feed: the agent whose token it
// bears, or else the address that the request comes from.
func callerOf(r *http.Request) caller {
	if agent := principal.Of(r.Context()).AgentID; agent != "" {
		return caller{name: "agent " + agent, most: MaxFollowersPerAgent}
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	return caller{name: "address " + host, most: MaxFollowersPerSource}
}

// gate knows who is connected, and lets nobody in once it is shut.
type gate[C interface {
	comparable
	cut() // makes it say farewell and end, also if a write hangs
}] struct {
	mu      sync.Mutex
	inside  map[C]caller
	taken   map[string]int // how many places each caller has
	closing bool
	idle    chan struct{} // closed when the last one has left while closing
}

// enter lets a caller's connection in while there are fewer than most, and
// fewer of that caller than it may have.
func (g *gate[C]) enter(c C, who caller, most int) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.closing:
		return errs.Errorf(errs.Unavailable, "the router is stopping")
	case len(g.inside) >= most:
		return errs.Errorf(errs.Unavailable, "%d streams are open: the router takes no more", most)
	case who.most > 0 && g.taken[who.name] >= who.most:
		return errs.Errorf(errs.RateLimited, "%s has %d streams open: close one first", who.name, who.most)
	}
	if g.inside == nil {
		g.inside, g.taken = map[C]caller{}, map[string]int{}
	}
	g.inside[c] = who
	g.taken[who.name]++
	return nil
}

func (g *gate[C]) leave(c C) {
	g.mu.Lock()
	defer g.mu.Unlock()
	who := g.inside[c].name
	delete(g.inside, c)
	if g.taken[who]--; g.taken[who] <= 0 {
		delete(g.taken, who)
	}
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
		c.cut()
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
