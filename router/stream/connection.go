package stream

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/r3labs/sse/v2"

	"skillrouter/internal/committer"
	"skillrouter/internal/principal"
)

// connection is one client's open stream. While there is nothing to say it is
// two goroutines that wait, with nothing on their stacks. For what is to be
// said, awake opens a stream of the library: its pump takes entries from the
// source and publishes them, the library's loop hands them to the goroutine of
// awake, which writes them. It ends with the next keep-alive.
type connection struct {
	hub    *Hub
	id     string
	ctx    context.Context
	cancel context.CancelFunc
	source source
	out    *writer
	conn   *held       // taken over from net/http; nil: it belongs to the request
	rested chan bool   // see apart
	ending atomic.Bool // the hub is shutting down

	// Of the library's stream, while there is one.
	taken   []entry            // what it begins with; none: with a keep-alive
	end     context.CancelFunc // ends it
	pumped  chan struct{}      // closed when the pump has ended
	removed chan struct{}      // closed when the library has let go of it

	mu       sync.Mutex
	pipeline []entry       // published and not yet written
	bytes    int           // of the pipeline
	room     chan struct{} // signalled when the pipeline has room again
}

func newConnection(h *Hub, id string, ctx context.Context, cancel context.CancelFunc, s source, w http.ResponseWriter) *connection {
	c := &connection{hub: h, id: id, ctx: ctx, cancel: cancel, source: s, rested: make(chan bool, 1), room: make(chan struct{}, 1)}
	c.out = newWriter(w, c)
	return c
}

// cut makes the connection say farewell and end, also if a write hangs.
func (c *connection) cut() {
	c.ending.Store(true)
	c.cancel()
	c.out.hurry()
}

// live serves the connection to its end and returns how many bytes it was
// sent. What needs room on a stack is done by goroutines that end: a stack
// stays as large as it once was.
func (c *connection) live() int64 {
	defer c.hub.forget(c)
	var hearing sync.WaitGroup
	if c.conn != nil {
		hearing.Go(func() { c.conn.listen(c.cancel) })
	}
	c.wake(false)
	alive := time.NewTimer(KeepAlive)
	defer alive.Stop()
	for c.ctx.Err() == nil {
		select {
		case <-c.ctx.Done():
			continue
		case <-c.source.ready():
			c.wake(false)
		case <-alive.C:
			c.wake(true)
		}
		alive.Reset(KeepAlive)
	}
	if c.ending.Load() {
		c.out.farewell()
	}
	if c.conn == nil {
		return 0
	}
	if !c.out.broken {
		c.conn.finish()
	}
	_ = c.conn.Close()
	hearing.Wait()
	return c.conn.written
}

// wake runs awake and waits for its end.
func (c *connection) wake(quiet bool) {
	if !apart(c.hub.log, c.rested, func() { c.awake(quiet) }) {
		c.out.broken = true
		c.cancel()
	}
}

// awake says what there is to say, if that is anything, or that the stream is
// still there if it was quiet.
func (c *connection) awake(quiet bool) {
	entries, ok := c.take()
	if !ok || len(entries) == 0 && !quiet {
		return
	}
	ctx, end := context.WithCancel(c.ctx)
	defer end()
	c.taken, c.end = entries, end
	c.pumped, c.removed = make(chan struct{}), make(chan struct{})
	c.hub.server.CreateStream(c.id)
	// The library gets a request that says only which stream; the cursor is ours.
	own := (&http.Request{Method: http.MethodGet, URL: &url.URL{RawQuery: "stream=" + c.id}, Header: http.Header{}}).WithContext(ctx)
	c.out.starting = true
	c.hub.server.ServeHTTP(c.out, own)
	end()
	<-c.pumped
	<-c.removed
	c.pipeline, c.bytes = nil, 0
	c.out.giveBack()
}

// take returns what the source has; not ok: the connection has ended.
func (c *connection) take() (entries []entry, ok bool) {
	entries, err := c.source.take(c.ctx)
	switch {
	case c.ctx.Err() != nil:
		return nil, false
	case err != nil: // the client comes back and goes on where it was
		c.hub.log.Error("a stream's log could not be read", "error", err)
		c.cancel()
		return nil, false
	case len(entries) > 0 && principal.Standing(c.ctx) != nil:
		c.cancel()
		return nil, false
	}
	return entries, true
}

// pump publishes what is for the agent until the connection ends, or was
// silent for so long that a keep-alive is due. With that it ends the library's stream.
func (c *connection) pump() {
	defer close(c.pumped)
	defer c.end()
	alive := time.NewTimer(KeepAlive)
	defer alive.Stop()
	entries, ok := c.taken, true
	for c.taken = nil; len(entries) > 0; entries, ok = c.next(alive) {
		if !c.publish(entries) {
			return
		}
	}
	if !ok {
		return
	}
	if c.admit([]entry{{}}) > 0 { // otherwise a write is under way
		c.hub.server.Publish(c.id, &sse.Event{Comment: []byte("keep-alive")})
	}
	for c.pending() { // what the library was not yet asked for would be lost with its stream
		select {
		case <-c.room:
		case <-c.ctx.Done():
			return
		}
	}
}

// next waits for further entries. None come when a keep-alive is due, or, not ok, when the connection has ended.
func (c *connection) next(alive *time.Timer) (entries []entry, ok bool) {
	alive.Reset(KeepAlive)
	for {
		if entries, ok = c.take(); !ok || len(entries) > 0 {
			return entries, ok
		}
		select {
		case <-c.ctx.Done():
			return nil, false
		case <-c.source.ready():
		case <-alive.C:
			return nil, true
		}
	}
}

// publish hands entries to the library as fast as the client takes them. It
// returns false when the connection has ended.
func (c *connection) publish(entries []entry) bool {
	for len(entries) > 0 {
		n := c.admit(entries)
		if n == 0 {
			select {
			case <-c.room:
			case <-c.ctx.Done():
				return false
			}
			continue
		}
		for _, e := range entries[:n] {
			c.hub.server.Publish(c.id, &sse.Event{ID: strconv.AppendInt(nil, e.id, 10), Event: []byte(e.name), Data: e.body})
		}
		entries = entries[n:]
	}
	return true
}

// admit puts as many entries as there is room for into the pipeline, before
// they are published, so that the writer knows that more is coming.
func (c *connection) admit(entries []entry) (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for n < len(entries) && c.bytes < pipelineBytes {
		c.pipeline = append(c.pipeline, entries[n])
		c.bytes += len(entries[n].body)
		n++
	}
	return n
}

// written takes the entry that was just written out of the pipeline, and
// tells whether more is coming.
func (c *connection) written() (e entry, more bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, c.pipeline[0], c.pipeline = c.pipeline[0], entry{}, c.pipeline[1:]
	c.bytes -= len(e.body)
	committer.Nudge(c.room)
	return e, len(c.pipeline) > 0
}

// pending tells whether anything is published and not yet written.
func (c *connection) pending() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.pipeline) > 0
}
