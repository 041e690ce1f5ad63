package stream

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"github.com/skillrouter/skillrouter/internal/clock"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/router/feed"
)

// Sockets serves the feed as WebSockets. Who may connect (Host, Origin, token)
// was decided by whoever calls it.
type Sockets struct {
	door
	now clock.Clock
}

// NewSockets makes Sockets. fail answers a request that cannot be served.
func NewSockets(feed *feed.Feed, fail func(w http.ResponseWriter, r *http.Request, err error), now clock.Clock, log *slog.Logger) *Sockets {
	return &Sockets{followers(feed, asFrames, fail, log), now}
}

// maxUnanswered is how many pings a client may leave unanswered before it is
// cut. They are counted and not timed: a client that was not asked, because
// the router was slow to come to it, is not dead.
const maxUnanswered = 2

// ServeHTTP turns the request into a WebSocket and writes the feed to it,
// until the client goes away, takes nothing for WriteTimeout, answers no ping,
// the request's context ends, or the router shuts down. A context that ends
// because of an errs.Unauthenticated error is told to the client as such.
func (s *Sockets) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		s.fail(w, r, errs.Errorf(errs.Invalid, "this is a WebSocket: connect to it with a WebSocket client; GET /events is the same feed for others"))
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	var ending atomic.Bool
	var unanswered atomic.Int32 // pings since the client was last heard of
	from, leave := s.admit(w, r, func() {
		ending.Store(true)
		cancel() // a write under way ends with it
	})
	if leave == nil {
		return
	}
	defer leave()
	hear := func() { unanswered.Store(0) }
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{
		InsecureSkipVerify: true, // the Origin was checked with every other request's
		CompressionMode:    websocket.CompressionDisabled,
		OnPingReceived:     func(context.Context, []byte) bool { hear(); return true },
		OnPongReceived:     func(context.Context, []byte) { hear() },
	})
	if err != nil {
		return // the library has answered
	}
	conn.SetReadLimit(MaxFrame)
	reading, stop := context.WithCancel(context.WithoutCancel(ctx)) // it goes on until the farewell was answered
	defer stop()
	var hearing sync.WaitGroup
	hearing.Go(func() {
		defer cancel()
		s.listen(reading, conn, hear)
	})
	put := func(entries []entry) bool {
		return !slices.ContainsFunc(entries, func(e entry) bool { return write(ctx, conn, e.body) != nil })
	}
	pump(ctx, from, s.log, put, func() bool {
		if unanswered.Add(1) > maxUnanswered {
			return false
		}
		go ping(ctx, conn)
		return true
	})
	last := time.AfterFunc(farewellTimeout, func() { _ = conn.CloseNow() }) // who does not take the farewell is cut
	switch {
	case ending.Load():
		_ = conn.Close(websocket.StatusGoingAway, "the router is stopping, come back")
	case errs.CodeOf(context.Cause(r.Context())) == errs.Unauthenticated:
		_ = conn.Close(websocket.StatusPolicyViolation, "the token is no longer valid")
	}
	last.Stop()
	stop()
	_ = conn.CloseNow()
	hearing.Wait()
}

// listen answers what a client sends, until it goes away. A client that sends
// without reading the answers is not read any further.
func (s *Sockets) listen(ctx context.Context, conn *websocket.Conn, hear func()) {
	for {
		kind, text, err := conn.Read(ctx)
		if err != nil {
			return
		}
		hear()
		if kind != websocket.MessageText {
			_ = conn.Close(websocket.StatusUnsupportedData, "frames are text")
			return
		}
		if write(ctx, conn, answerFrame(text, s.now)) != nil {
			return
		}
	}
}

// ping asks a silent client whether it is still there. That it answers is heard by listen.
func ping(ctx context.Context, conn *websocket.Conn) {
	ctx, cancel := context.WithTimeout(ctx, KeepAlive)
	defer cancel()
	_ = conn.Ping(ctx)
}

// write writes a frame. A client that does not take it for WriteTimeout is cut.
func write(ctx context.Context, conn *websocket.Conn, frame []byte) error {
	ctx, cancel := context.WithTimeout(ctx, WriteTimeout)
	defer cancel()
	return conn.Write(ctx, websocket.MessageText, frame)
}
