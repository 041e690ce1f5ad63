// Package stream serves an agent's messages (GET /messages) and the feed of
// events (GET /events) as server-sent events, and the feed as a WebSocket too
// (GET /ws). The logs are the truth: each stream has an r3labs/sse stream of
// its own and a pump that reads the log behind the connection's cursor, so that
// a slow client holds up only itself. The package owns connections, deadlines,
// keep-alives and the farewell at shutdown. It must not know how messages and
// events are stored, or who may read them.
package stream

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/r3labs/sse/v2"

	"github.com/skillrouter/skillrouter/comms"
)

// Times and sizes of a stream.
const (
	// KeepAlive is how often a silent stream gets a comment, so that proxies keep
	// it open and both ends notice when the other is gone.
	KeepAlive = 15 * time.Second
	// WriteTimeout is how long a client may take no byte before it is cut.
	WriteTimeout = 5 * time.Second
	// farewellTimeout bounds the last words at shutdown, which has a second for all streams.
	farewellTimeout = 300 * time.Millisecond
	// streamBuffer is how many events r3labs/sse holds for a stream, besides 64 for its reader.
	streamBuffer = 16
	// retryFirst is when a client whose connection broke shall try again. At
	// shutdown each is told another time, up to retrySpread later, so that they do
	// not all come back at once.
	retryFirst  = time.Second
	retrySpread = 2 * time.Second
)

// Hub serves streams of server-sent events.
type Hub struct {
	door
	server *sse.Server
	last   atomic.Uint64 // the newest connection's number
	byID   sync.Map      // of *connection
}

// New makes a Hub that serves the messages of the agent in the query. fail
// answers a request that cannot be served.
func New(mailbox *comms.Mailbox, fail func(w http.ResponseWriter, r *http.Request, err error), log *slog.Logger) *Hub {
	open := func(r *http.Request) (source, error) {
		cursor, err := cursorOf(r)
		if err != nil {
			return nil, err
		}
		subscription, err := mailbox.Subscribe(r.Context(), r.URL.Query().Get("agent_id"), cursor)
		if err != nil {
			return nil, err
		}
		return letters{subscription}, nil
	}
	anybody := func(*http.Request) caller { return caller{} }
	return newHub(&Hub{door: door{open: open, caller: anybody, most: comms.MaxStreams, fail: fail, log: log}})
}

// newHub makes a Hub of what lets its clients in.
func newHub(h *Hub) *Hub {
	h.server = sse.New()
	h.server.AutoReplay, h.server.AutoStream, h.server.SplitData, h.server.BufferSize = false, false, true, streamBuffer
	// The library runs its hooks in goroutines of their own; ServeHTTP waits for both.
	h.server.OnSubscribe = func(id string, _ *sse.Subscriber) {
		if c, there := h.byID.Load(id); there {
			c.(*connection).pump()
		}
	}
	h.server.OnUnsubscribe = func(id string, _ *sse.Subscriber) {
		h.server.RemoveStream(id) // not before: its loop would no longer take the deregistration
		if c, there := h.byID.Load(id); there {
			close(c.(*connection).removed)
		}
	}
	return h
}

// ServeHTTP streams until the client goes away, takes nothing for
// WriteTimeout, or the hub shuts down.
func (h *Hub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	c := &connection{
		hub: h, id: strconv.FormatUint(h.last.Add(1), 10), ctx: ctx, cancel: cancel,
		pumped: make(chan struct{}), removed: make(chan struct{}), sent: make(chan struct{}, 1),
	}
	c.out = &writer{ResponseWriter: w, connection: c, control: http.NewResponseController(w)}
	source, leave := h.admit(w, r, c.cut)
	if leave == nil {
		return
	}
	defer leave()
	c.source = source
	w.Header().Set("X-Accel-Buffering", "no") // nginx would hold events back
	h.byID.Store(c.id, c)
	defer h.byID.Delete(c.id)
	_ = c.out.control.SetReadDeadline(time.Time{}) // a read time limit is meant for requests, not for streams; without one there is nothing to lift
	h.server.CreateStream(c.id)
	// The library gets a request that says only which stream; the cursor is ours.
	own := &http.Request{Method: http.MethodGet, URL: &url.URL{RawQuery: "stream=" + c.id}, Header: http.Header{}}
	h.server.ServeHTTP(c.out, own.WithContext(ctx))
	cancel()
	<-c.pumped
	<-c.removed
	if c.ending.Load() {
		c.out.farewell()
	}
}
