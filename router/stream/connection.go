package stream

import (
	"context"
	"fmt"
	"runtime/debug"
	"strconv"
	"sync/atomic"

	"github.com/r3labs/sse/v2"
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
	sent    chan struct{} // signalled when what was published is written
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
		return c.write(&sse.Event{Comment: []byte("keep-alive")})
	})
}

// publish hands entries to the library, each once the one before it is written. It
// returns false when the connection has ended.
func (c *connection) publish(entries []entry) bool {
	for i, e := range entries {
		if !c.write(&sse.Event{ID: strconv.AppendInt(nil, e.id, 10), Event: []byte(e.name), Data: e.body}) {
			return false
		}
		c.source.delivered(entries[i : i+1])
	}
	return true
}

// write has the library write an event, and waits until it has.
func (c *connection) write(event *sse.Event) bool {
	c.hub.server.Publish(c.id, event)
	select {
	case <-c.sent:
		return true
	case <-c.ctx.Done():
		return false
	}
}
