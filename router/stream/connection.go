package stream

import (
	"context"
	"fmt"
	"runtime/debug"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/r3labs/sse/v2"

	"skillrouter/internal/committer"
)

// connection is one client's open stream: a stream of the library, a pump that
// takes entries from the source and publishes them, and the request's own
// goroutine, in which the library writes them.
type connection struct {
	hub     *Hub
	id      string
	ctx     context.Context
	cancel  context.CancelFunc
	source  source
	out     *writer
	ending  atomic.Bool   // the hub is shutting down
	pumped  chan struct{} // closed when the pump has ended
	removed chan struct{} // closed when the library has let go of the stream

	mu       sync.Mutex
	pipeline []entry       // published and not yet written
	bytes    int           // of the pipeline
	room     chan struct{} // signalled when the pipeline has room again
}

// cut makes the connection say farewell and end, also if a write hangs.
func (c *connection) cut() {
	c.ending.Store(true)
	c.cancel()
	c.out.deadline(farewellTimeout)
}

// pump publishes what is for the client, and keep-alives while there is
// nothing, until the connection ends. The library would let a panic end the process.
func (c *connection) pump() {
	defer close(c.pumped)
	defer c.cancel()
	defer func() {
		if p := recover(); p != nil {
			c.hub.log.Error("panic in a stream", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
		}
	}()
	pump(c.ctx, c.source, c.hub.log, c.publish, func() bool {
		if c.admit([]entry{{}}) > 0 { // otherwise a write is under way
			c.hub.server.Publish(c.id, &sse.Event{Comment: []byte("keep-alive")})
		}
		return true
	})
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
