package stream

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/r3labs/sse/v2"

	"skillrouter/comms"
)

// connection is one client's open stream. Its pump takes messages from the
// subscription and publishes them; the library's loop hands them to the
// goroutine of the request, which writes them.
type connection struct {
	hub          *Hub
	id           string
	ctx          context.Context
	cancel       context.CancelFunc
	subscription *comms.Subscription
	out          *writer
	pumped       chan struct{} // closed when the pump has ended
	removed      chan struct{} // closed when the library has let go of the stream
	ending       atomic.Bool   // the hub is shutting down

	mu       sync.Mutex
	pipeline []*comms.Post // published and not yet written; nil stands for a keep-alive
	bytes    int           // of the pipeline
	room     chan struct{} // signalled when the pipeline has room again
}

func newConnection(h *Hub, id string, ctx context.Context, cancel context.CancelFunc, s *comms.Subscription, w http.ResponseWriter) *connection {
	c := &connection{
		hub: h, id: id, ctx: ctx, cancel: cancel, subscription: s,
		pumped: make(chan struct{}), removed: make(chan struct{}), room: make(chan struct{}, 1),
	}
	c.out = newWriter(w, c)
	return c
}

// end makes the connection say farewell and end, also if a write hangs.
func (c *connection) end() {
	c.ending.Store(true)
	c.cancel()
	c.out.hurry()
}

// pump publishes what is for the agent until the connection ends.
func (c *connection) pump() {
	alive := time.NewTimer(KeepAlive)
	defer alive.Stop()
	for {
		posts, err := c.subscription.Take(c.ctx)
		switch {
		case c.ctx.Err() != nil:
			return
		case err != nil: // the client comes back and goes on where it was
			c.hub.log.Error("the message log could not be read", "error", err)
			c.cancel()
			return
		case len(posts) > 0:
			alive.Reset(KeepAlive)
			if !c.publish(posts) {
				return
			}
			continue
		}
		select {
		case <-c.ctx.Done():
			return
		case <-c.subscription.Ready():
		case <-alive.C:
			alive.Reset(KeepAlive)
			if c.admit([]*comms.Post{nil}) > 0 { // otherwise a write is under way
				c.hub.server.Publish(c.id, &sse.Event{Comment: []byte("keep-alive")})
			}
		}
	}
}

// publish hands posts to the library as fast as the client takes them. It
// returns false when the connection has ended.
func (c *connection) publish(posts []*comms.Post) bool {
	for len(posts) > 0 {
		n := c.admit(posts)
		if n == 0 {
			select {
			case <-c.room:
			case <-c.ctx.Done():
				return false
			}
			continue
		}
		for _, p := range posts[:n] {
			c.hub.server.Publish(c.id, &sse.Event{
				ID:    strconv.AppendInt(nil, p.Message.Seq, 10),
				Event: []byte(p.Message.Signal),
				Data:  p.Body,
			})
		}
		posts = posts[n:]
	}
	return true
}

// admit puts as many posts as there is room for into the pipeline, before
// they are published, so that the writer knows that more is coming.
func (c *connection) admit(posts []*comms.Post) (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for n < len(posts) && c.bytes < pipelineBytes {
		c.pipeline = append(c.pipeline, posts[n])
		if posts[n] != nil {
			c.bytes += len(posts[n].Body)
		}
		n++
	}
	return n
}

// written takes the event that was just written out of the pipeline, and
// tells whether more is coming.
func (c *connection) written() (post *comms.Post, more bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	post, c.pipeline = c.pipeline[0], c.pipeline[1:]
	if post != nil {
		c.bytes -= len(post.Body)
	}
	select {
	case c.room <- struct{}{}:
	default:
	}
	return post, len(c.pipeline) > 0
}
