package stream

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"sync"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
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

// door lets clients in: it opens what a request asks for, knows who is connected, and lets nobody in once it is shut.
type door struct {
	open   func(r *http.Request) (source, error)
	caller func(r *http.Request) caller // whom a connection counts as
	most   int
	fail   func(w http.ResponseWriter, r *http.Request, err error)
	log    *slog.Logger

	mu      sync.Mutex
	inside  map[*place]bool
	taken   map[string]int // how many places each caller has
	closing bool
	idle    chan struct{} // closed when the last one has left while closing
}

// place is one connection's.
type place struct {
	name string
	cut  func() // makes the connection say farewell and end, also if a write hangs
}

// admit opens the source of a request and lets its connection in. It returns no leave, and has
// answered the request, if it is refused.
func (d *door) admit(w http.ResponseWriter, r *http.Request, cut func()) (from source, leave func()) {
	from, err := d.open(r)
	if err != nil {
		d.fail(w, r, err)
		return nil, nil
	}
	who := d.caller(r)
	at := &place{who.name, cut}
	if err := d.enter(at, who.most); err != nil {
		from.Close()
		d.fail(w, r, err)
		return nil, nil
	}
	return from, func() {
		d.leave(at)
		from.Close()
	}
}

// enter gives a connection a place while there are fewer than most, and fewer of its caller than that one may have.
func (d *door) enter(at *place, most int) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.closing:
		return errs.Errorf(errs.Unavailable, "the router is stopping")
	case len(d.inside) >= d.most:
		return errs.Errorf(errs.Unavailable, "%d streams are open: the router takes no more", d.most)
	case most > 0 && d.taken[at.name] >= most:
		return errs.Errorf(errs.RateLimited, "%s has %d streams open: close one first", at.name, most)
	}
	if d.inside == nil {
		d.inside, d.taken = map[*place]bool{}, map[string]int{}
	}
	d.inside[at] = true
	d.taken[at.name]++
	return nil
}

func (d *door) leave(at *place) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.inside, at)
	if d.taken[at.name]--; d.taken[at.name] <= 0 {
		delete(d.taken, at.name)
	}
	if d.closing && len(d.inside) == 0 {
		close(d.idle)
	}
}

// Shutdown ends all connections and refuses further ones. Clients are told when to
// come back. It returns when all have ended, or with ctx's error.
func (d *door) Shutdown(ctx context.Context) error {
	d.mu.Lock()
	if !d.closing {
		d.closing, d.idle = true, make(chan struct{})
		if len(d.inside) == 0 {
			close(d.idle)
		}
	}
	for at := range d.inside {
		at.cut()
	}
	idle := d.idle
	d.mu.Unlock()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Count is how many clients are connected.
func (d *door) Count() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.inside)
}
