package stream

import (
	"context"
	"encoding/binary"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"skillrouter/internal/clock"
	"skillrouter/internal/errs"
	"skillrouter/internal/principal"
	"skillrouter/router/feed"
)

// Sockets serves the feed as WebSockets. Who may connect (Host, Origin, token)
// was decided by whoever calls it.
type Sockets struct {
	feed *feed.Feed
	fail func(w http.ResponseWriter, r *http.Request, err error)
	log  *slog.Logger
	now  clock.Clock
	gate gate[*socket]
}

// NewSockets makes Sockets. fail answers a request that cannot be served.
func NewSockets(feed *feed.Feed, fail func(w http.ResponseWriter, r *http.Request, err error), now clock.Clock, log *slog.Logger) *Sockets {
	return &Sockets{feed: feed, fail: fail, log: log, now: now}
}

// maxUnanswered is how many pings a client may leave unanswered before it is
// cut. They are counted and not timed: a client that was not asked, because
// the router was slow to come to it, is not dead.
const maxUnanswered = 2

// ServeHTTP turns the request into a WebSocket and writes the feed to it,
// until the client goes away, takes nothing for WriteTimeout, answers no ping,
// the request's context ends, or the router shuts down. A context that ends
// because of a errs.Unauthenticated error is told to the client as such.
func (s *Sockets) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if live := s.Begin(w, r); live != nil {
		live()
	}
}

// Begin shakes hands. The WebSocket goes on in live, as a Hub's stream does.
func (s *Sockets) Begin(w http.ResponseWriter, r *http.Request) (live func() int64) {
	if !strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		s.fail(w, r, errs.Errorf(errs.Invalid, "this is a WebSocket: connect to it with a WebSocket client; GET /events is the same feed for others"))
		return nil
	}
	query, err := feedQueryOf(r)
	if err != nil {
		s.fail(w, r, err)
		return nil
	}
	reader, err := s.feed.Follow(r.Context(), query)
	if err != nil {
		s.fail(w, r, err)
		return nil
	}
	right := r.Context() // once the connection is taken over, it ends only where the caller's right to it does
	ctx, cancel := context.WithCancel(right)
	c := &socket{cancel: cancel}
	if err := s.gate.enter(c, callerOf(r), MaxFollowers); err != nil {
		reader.Close()
		cancel()
		s.fail(w, r, err)
		return nil
	}
	leave := func() {
		s.gate.leave(c)
		cancel()
		reader.Close()
	}
	out := &upgrade{ResponseWriter: w}
	hear := func() { c.unanswered.Store(0) }
	conn, err := websocket.Accept(out, r, &websocket.AcceptOptions{
		InsecureSkipVerify: true, // the Origin was checked with every other request's
		CompressionMode:    websocket.CompressionDisabled,
		OnPingReceived:     func(context.Context, []byte) bool { hear(); return true },
		OnPongReceived:     func(context.Context, []byte) { hear() },
	})
	if err != nil {
		leave()
		return nil // the library has answered
	}
	conn.SetReadLimit(MaxFrame)
	plug := out.plug
	c.plug.Store(plug)
	if c.ending.Load() {
		c.cut() // it was told to before there was a plug
	}
	return func() int64 {
		defer leave()
		s.live(ctx, right, c, conn, plug, reader, hear)
		return plug.written
	}
}

// live serves a WebSocket to its end.
func (s *Sockets) live(ctx, right context.Context, c *socket, conn *websocket.Conn, plug *plug, reader *feed.Reader, hear func()) {
	reading, stop := context.WithCancel(context.WithoutCancel(ctx)) // it goes on until the farewell was answered
	defer stop()
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		defer c.cancel()
		s.listen(reading, conn, plug, hear)
	}()
	s.pump(ctx, c, plug, reader)
	var last []byte
	switch {
	case c.ending.Load():
		last = farewellFrame
	case errs.CodeOf(context.Cause(right)) == errs.Unauthenticated:
		last = strangerFrame
	}
	if last != nil && plug.frames(last) == nil {
		select {
		case <-gone:
		case <-time.After(farewellTimeout):
		}
	}
	stop()
	_ = conn.CloseNow()
	<-gone
}

// farewellFrame closes a connection of a router that stops: status 1001, "going away".
var farewellFrame = rawFrame(finalClose, append(binary.BigEndian.AppendUint16(nil, uint16(websocket.StatusGoingAway)), "the router is stopping, come back"...))

// strangerFrame closes a connection whose caller may no longer have it: status 1008, "policy violation".
var strangerFrame = rawFrame(finalClose, append(binary.BigEndian.AppendUint16(nil, uint16(websocket.StatusPolicyViolation)), "the token is no longer valid"...))

// pingFrame asks a silent client whether it is still there.
var pingFrame = rawFrame(finalPing, nil)

// listen answers what a client sends, until it goes away. A client that sends
// without reading the answers is not read any further.
func (s *Sockets) listen(ctx context.Context, conn *websocket.Conn, out *plug, hear func()) {
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
		if out.frames(answerFrame(text, s.now)) != nil {
			return
		}
	}
}

// pump writes what the reader finds until ctx ends or the client is cut. It
// waits with an empty stack: see connection.live.
func (s *Sockets) pump(ctx context.Context, c *socket, out *plug, reader *feed.Reader) {
	tick := time.NewTicker(KeepAlive)
	defer tick.Stop()
	rested := make(chan bool, 1)
	for due := false; ; {
		stands := false
		if !apart(s.log, rested, func() { stands = s.turn(ctx, c, out, reader, due) }) || !stands {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-reader.Ready():
			due = false
		case <-tick.C:
			due = true
		}
	}
}

// turn writes all that the reader finds, and otherwise a ping if one is due. It tells whether the connection stands.
func (s *Sockets) turn(ctx context.Context, c *socket, out *plug, reader *feed.Reader, due bool) bool {
	for {
		items, err := reader.Take(ctx)
		switch {
		case ctx.Err() != nil:
			return false
		case err != nil: // the client comes back and goes on where it was
			s.log.Error("the feed could not be read", "error", err)
			return false
		case len(items) == 0:
			return !due || c.unanswered.Add(1) <= maxUnanswered && out.frames(pingFrame) == nil
		case principal.Standing(ctx) != nil || !write(ctx, out, items):
			return false
		}
		due = false // there may be more behind them
	}
}

// write writes items, and tells whether the connection stands.
func write(ctx context.Context, out *plug, items []*feed.Item) bool {
	frames := make([][]byte, 0, min(len(items), maxGathered))
	for len(items) > 0 {
		frames = frames[:0]
		for size := 0; len(items) > 0 && size < flushBytes && len(frames) < maxGathered; items = items[1:] {
			frame := items[0].As(feed.Frame, encodeFrame)
			frames, size = append(frames, frame), size+len(frame)
		}
		if out.frames(frames...) != nil || ctx.Err() != nil {
			return false
		}
	}
	return true
}

// maxGathered is how many frames one write holds at most.
const maxGathered = 128

// Shutdown ends all connections and refuses further ones. It returns when all
// have ended, or with ctx's error.
func (s *Sockets) Shutdown(ctx context.Context) error { return s.gate.shut(ctx) }

// Count is how many clients are connected.
func (s *Sockets) Count() int { return s.gate.count() }

// socket is one client's connection, as the gate knows it.
type socket struct {
	cancel     context.CancelFunc
	plug       atomic.Pointer[plug]
	ending     atomic.Bool
	unanswered atomic.Int32 // pings since the client was last heard of
}

// cut implements gate's.
func (c *socket) cut() {
	c.ending.Store(true)
	c.cancel()
	if p := c.plug.Load(); p != nil {
		p.hurry()
	}
}
