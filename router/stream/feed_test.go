package stream_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/skillrouter/skillrouter/internal/committer"
	"github.com/skillrouter/skillrouter/internal/database/databasetest"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/operational/store"
	"github.com/skillrouter/skillrouter/router/feed"
	"github.com/skillrouter/skillrouter/router/stream"
)

// silent is a log of nothing.
type silent struct{ bell committer.Bell }

func (*silent) Events(context.Context, int64, int) ([]eventlog.Event, error) { return nil, nil }
func (*silent) FirstEvent(context.Context) (int64, error)                    { return 0, nil }
func (*silent) SweepEvents(ctx context.Context, through int64, before time.Time, limit int) (removed int, err error) {
	return 0, nil
}
func (*silent) LastEvent(context.Context) (int64, error) { return 0, nil }
func (s *silent) EventBell() *committer.Bell             { return &s.bell }

// ticker is a feed on a database with both its transports, served to whoever
// asks as the Captain. Its events are new tasks.
type ticker struct {
	tasks   *operational.Tasks
	feed    *feed.Feed
	hub     *stream.Hub
	sockets *stream.Sockets
	server  *httptest.Server
	close   func()
}

func openTicker(t *testing.T) *ticker {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	db, err := databasetest.OpenIn(t, t.TempDir(), "operational", time.Now, log)
	if err != nil {
		t.Fatal(err)
	}
	running, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	var committer, runners sync.WaitGroup
	committing, stopCommitting := context.WithCancel(running)
	committer.Go(func() { _ = db.Commit.Run(committing) })
	s := store.New(db.Read, db.Commit)
	k := &ticker{tasks: operational.NewTasks(s, time.Now)}
	if k.feed, err = feed.New(t.Context(), feed.Ports{Journal: s, Learning: &silent{}, Operational: s, Messages: s.PostLog()}, log); err != nil {
		t.Fatal(err)
	}
	feeding, stopFeed := context.WithCancel(running)
	runners.Go(func() { _ = k.feed.Run(feeding) })
	fail := func(w http.ResponseWriter, _ *http.Request, err error) {
		w.Header().Set("Code", string(errs.CodeOf(err)))
		w.Header().Set("Field", errs.FieldOf(err))
		http.Error(w, err.Error(), http.StatusTeapot)
	}
	k.hub, k.sockets = stream.NewFeed(k.feed, fail, log), stream.NewSockets(k.feed, fail, time.Now, log)
	mux := http.NewServeMux()
	mux.Handle("/events", k.hub)
	mux.Handle("/ws", k.sockets)
	k.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mux.ServeHTTP(w, r.WithContext(principal.With(r.Context(), principal.Open())))
	}))
	k.close = sync.OnceFunc(func() {
		ctx, cancel := context.WithTimeout(running, 5*time.Second)
		defer cancel()
		err := errors.Join(k.hub.Shutdown(ctx), k.sockets.Shutdown(ctx))
		k.server.Close()
		stopFeed()
		runners.Wait()
		stopCommitting()
		committer.Wait()
		stop()
		if err := errors.Join(err, db.Close()); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(k.close)
	return k
}

func (k *ticker) task(t *testing.T, title string) {
	t.Helper()
	if _, err := k.tasks.Create(principal.With(t.Context(), principal.Open()), operational.TaskDraft{Title: title}); err != nil {
		t.Error(err)
	}
}

// dial opens a WebSocket on the feed.
func (k *ticker) dial(t *testing.T, query string) *websocket.Conn {
	t.Helper()
	conn, answer, err := websocket.Dial(t.Context(), "ws"+strings.TrimPrefix(k.server.URL, "http")+"/ws?"+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	if answer.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("the answer is %d", answer.StatusCode)
	}
	t.Cleanup(func() { _ = conn.CloseNow() })
	conn.SetReadLimit(1 << 20)
	return conn
}

// frame reads the next frame.
func frame(t *testing.T, conn *websocket.Conn) stream.Frame {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	_, text, err := conn.Read(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var f stream.Frame
	if err := json.Unmarshal(text, &f); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return f
}

// subscribe opens a stream of the feed.
func (k *ticker) subscribe(t *testing.T, query, lastEventID string) listener {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, k.server.URL+"/events?"+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	if lastEventID != "" {
		r.Header.Set("Last-Event-ID", lastEventID)
	}
	return listenTo(t, r)
}

// event reads the next event of a stream of the feed.
func (l listener) event(t *testing.T) feed.Event {
	t.Helper()
	for {
		e, err := l.next()
		if err != nil {
			t.Fatal(err)
		}
		if e.data == "" {
			continue
		}
		var event feed.Event
		if err := json.Unmarshal([]byte(e.data), &event); err != nil {
			t.Fatal(err)
		}
		if e.id != fmt.Sprint(event.Seq) || e.name != event.Type {
			t.Fatalf("the event %+v bears %+v", e, event)
		}
		return event
	}
}

// TestFeedReconnects reads a thousand events over many connections of each
// transport, beside clients that never read: each arrives once and in order.
func TestFeedReconnects(t *testing.T) {
	k := openTicker(t)
	deaf(t, k.server, "/events?after=0", "")
	deaf(t, k.server, "/ws?after=0", "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n")
	const events, connections = 1200, 60
	var sent, read sync.WaitGroup
	for range 4 {
		sent.Go(func() {
			for i := range events / 4 {
				k.task(t, fmt.Sprint("task ", i, strings.Repeat("x", i%150)))
			}
		})
	}
	const each = events/connections + 1
	count := func(take func(after int64) []int64) {
		var last int64
		got := 0
		for connection := 0; got < events; connection++ {
			if connection > 2*connections {
				t.Errorf("only %d events after %d connections", got, connection)
				return
			}
			for _, seq := range take(last) {
				if seq <= last {
					t.Errorf("event %d comes after %d", seq, last)
				}
				last = seq
				got++
			}
		}
		if got != events {
			t.Errorf("%d events arrived, and there are %d", got, events)
		}
	}
	read.Go(func() {
		left := events
		count(func(after int64) (seqs []int64) {
			l := k.subscribe(t, "type=task.*&after=0", fmt.Sprint(after))
			for range min(each, left) {
				seqs = append(seqs, l.event(t).Seq)
			}
			left -= len(seqs)
			_ = l.Body.Close()
			return seqs
		})
	})
	left := events
	count(func(after int64) (seqs []int64) {
		conn := k.dial(t, fmt.Sprint("type=task.*&after=", after))
		for range min(each, left) {
			f := frame(t, conn)
			if f.Type != operational.EventTaskCreated || f.Timestamp == 0 {
				t.Fatalf("a frame is %+v", f)
			}
			seqs = append(seqs, f.Seq)
		}
		left -= len(seqs)
		_ = conn.CloseNow()
		return seqs
	})
	sent.Wait()
	read.Wait()
}

// deaf opens a connection and reads nothing of it.
func deaf(t *testing.T, server *httptest.Server, path, header string) {
	t.Helper()
	var dialer net.Dialer
	conn, err := dialer.DialContext(t.Context(), "tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.(*net.TCPConn).SetReadBuffer(4 << 10); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: x\r\n%s\r\n", path, header); err != nil {
		t.Fatal(err)
	}
}

// TestDeafSocketIsCut fills the connection of a client that never reads: it is
// cut, delays nobody, and what it missed is there when it comes back.
func TestDeafSocketIsCut(t *testing.T) {
	k := openTicker(t)
	deaf(t, k.server, "/ws?after=0", "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n")
	for k.sockets.Count() == 0 {
		<-time.After(time.Millisecond)
	}
	ctx := principal.With(t.Context(), principal.Open())
	task, err := k.tasks.Create(ctx, operational.TaskDraft{Title: "a", AgentID: "a"})
	if err != nil {
		t.Fatal(err)
	}
	note, sent := strings.Repeat("x", 1000), 0
	var writers sync.WaitGroup
	var full atomic.Bool
	for range 8 {
		writers.Go(func() {
			for !full.Load() {
				if _, err := k.tasks.Progress(ctx, task.ID, operational.TaskProgress{AgentID: "a", Note: note}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	begin := time.Now()
	for k.sockets.Count() > 0 && time.Since(begin) < 60*time.Second {
		<-time.After(10 * time.Millisecond)
	}
	full.Store(true)
	writers.Wait()
	if k.sockets.Count() > 0 {
		t.Fatal("a client that never reads is not cut")
	}
	end := k.feed.End()
	t.Logf("cut after %v and %d events", time.Since(begin), end)
	conn := k.dial(t, "after=0")
	for last := int64(0); last < end; sent++ {
		f := frame(t, conn)
		if f.Seq <= last {
			t.Fatalf("event %d comes after %d", f.Seq, last)
		}
		last = f.Seq
	}
	if int64(sent) != end {
		t.Errorf("%d events of %d", sent, end)
	}
}

func TestSocketPingAndPong(t *testing.T) {
	k := openTicker(t)
	conn := k.dial(t, "")
	for _, c := range []struct{ text, want string }{
		{`{"type":"ping"}`, "pong"},
		{`{"type":"ping","data":{"timestamp":1}}`, "pong"},
		{`{"type":"sing"}`, "error"},
		{`ping`, "error"},
		{`[]`, "error"},
		{``, "error"},
	} {
		if err := conn.Write(t.Context(), websocket.MessageText, []byte(c.text)); err != nil {
			t.Fatal(err)
		}
		f := frame(t, conn)
		if f.Type != c.want || f.Timestamp == 0 || f.Seq != 0 {
			t.Errorf("%s is answered with %+v", c.text, f)
		}
		var pong struct{ Timestamp int64 }
		if err := json.Unmarshal(f.Data, &pong); err != nil || c.want == "pong" && pong.Timestamp == 0 {
			t.Errorf("%s is answered with the data %s", c.text, f.Data)
		}
	}
	pinged, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	conn.CloseRead(pinged)
	if err := conn.Ping(pinged); err != nil {
		t.Errorf("a ping of the protocol: %v", err)
	}
}

func TestSocketRefuses(t *testing.T) {
	k := openTicker(t)
	for name, c := range map[string]struct {
		kind websocket.MessageType
		text string
		want websocket.StatusCode
	}{
		"a frame that is too long": {websocket.MessageText, strings.Repeat("x", stream.MaxFrame+1), websocket.StatusMessageTooBig},
		"a frame of bytes":         {websocket.MessageBinary, "x", websocket.StatusUnsupportedData},
	} {
		t.Run(name, func(t *testing.T) {
			conn := k.dial(t, "")
			if err := conn.Write(t.Context(), c.kind, []byte(c.text)); err != nil {
				t.Fatal(err)
			}
			_, _, err := conn.Read(t.Context())
			if websocket.CloseStatus(err) != c.want {
				t.Errorf("it ends with %v", err)
			}
		})
	}
	for name, c := range map[string]struct{ path, field string }{
		"no upgrade":                {"/ws", ""},
		"an unknown parameter":      {"/events?tpye=task.*", "tpye"},
		"an unknown type":           {"/events?type=tusk.*", "type"},
		"a number that is none":     {"/events?after=x", "after"},
		"an agent that is none":     {"/events?agent=a%20b", "agent"},
		"an agent twice":            {"/events?agent=a&agent=b", "agent"},
		"two places to begin":       {"/events?after=1&last_event_id=2", "last_event_id"},
		"a query that is broken":    {"/events?type=%zz", ""},
		"a project with a line end": {"/events?project=a%0ab", "project"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, k.server.URL+c.path, nil)
			if err != nil {
				t.Fatal(err)
			}
			answer, err := http.DefaultTransport.RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			defer answer.Body.Close()
			if answer.Header.Get("Code") != string(errs.Invalid) || answer.Header.Get("Field") != c.field {
				t.Errorf("it is answered with %d, %s and %q", answer.StatusCode, answer.Header.Get("Code"), answer.Header.Get("Field"))
			}
		})
	}
}

// TestFollowersOfACallerAreBounded: neither an agent nor an address takes all
// places, and each is given back.
func TestFollowersOfACallerAreBounded(t *testing.T) {
	k := openTicker(t)
	open := func(ctx context.Context, path, from, agent string) (code errs.Code, end func()) {
		ctx, cancel := context.WithCancel(principal.With(ctx, principal.Principal{AgentID: agent, Scopes: []principal.Scope{principal.ScopeAgent}}))
		r := httptest.NewRequestWithContext(ctx, http.MethodGet, path, nil)
		r.RemoteAddr = from
		out := &quiet{header: http.Header{}}
		count := k.hub.Count()
		served := make(chan struct{})
		go func() { defer close(served); k.hub.ServeHTTP(out, r) }()
		for k.hub.Count() == count {
			select {
			case <-served:
				cancel()
				return errs.Code(out.header.Get("Code")), func() {}
			case <-time.After(time.Millisecond):
			}
		}
		return "", func() { cancel(); <-served }
	}
	for name, c := range map[string]struct {
		agent, other string
		most         int
	}{
		"an agent":   {"greedy", "modest", stream.MaxFollowersPerAgent},
		"an address": {"", "", stream.MaxFollowersPerSource},
	} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && c.most > 100 {
				t.Skip("opens two thousand streams")
			}
			var ends []func()
			defer func() {
				for _, end := range ends {
					end()
				}
			}()
			for i := range c.most {
				code, end := open(t.Context(), "/events", fmt.Sprint("10.0.0.1:", 1000+i), c.agent)
				if ends = append(ends, end); code != "" {
					t.Fatalf("stream %d is answered %s", i, code)
				}
			}
			if code, _ := open(t.Context(), "/events", "10.0.0.1:999", c.agent); code != errs.RateLimited {
				t.Errorf("one too many is answered %q", code)
			}
			code, end := open(t.Context(), "/events", "10.0.0.2:999", c.other)
			if ends = append(ends, end); code != "" {
				t.Errorf("another's is answered %q", code)
			}
			ends[0]()
			code, end = open(t.Context(), "/events", "10.0.0.1:998", c.agent)
			if ends = append(ends, end); code != "" {
				t.Errorf("a place that was given back is answered %q", code)
			}
		})
	}
}

// TestSocketOfAStranger: a socket whose caller may no longer have it is told so.
func TestSocketOfAStranger(t *testing.T) {
	k := openTicker(t)
	end := make(chan context.CancelCauseFunc, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithCancelCause(principal.With(r.Context(), principal.Open()))
		end <- cancel
		k.sockets.ServeHTTP(w, r.WithContext(ctx))
	}))
	defer server.Close()
	conn, _, err := websocket.Dial(t.Context(), "ws"+strings.TrimPrefix(server.URL, "http"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.CloseNow() }()
	(<-end)(errs.Errorf(errs.Unauthenticated, "the token is no longer valid"))
	if _, _, err := conn.Read(t.Context()); websocket.CloseStatus(err) != websocket.StatusPolicyViolation {
		t.Errorf("it ends with %v", err)
	}
}

func TestFeedFromNowOn(t *testing.T) {
	k := openTicker(t)
	k.task(t, "before")
	for k.feed.End() == 0 {
		<-time.After(time.Millisecond)
	}
	sse, conn := k.subscribe(t, "", ""), k.dial(t, "")
	beyond := k.dial(t, "after=4611686018427387904") // from another data folder
	for k.sockets.Count() < 2 {
		<-time.After(time.Millisecond)
	}
	k.task(t, "after")
	if e := sse.event(t); !strings.Contains(string(e.Data), `"after"`) {
		t.Errorf("the first event from now on is %s", e.Data)
	}
	for _, conn := range []*websocket.Conn{conn, beyond} {
		if f := frame(t, conn); !strings.Contains(string(f.Data), `"after"`) {
			t.Errorf("the first frame from now on is %s", f.Data)
		}
	}
}

func TestShutdownClosesSockets(t *testing.T) {
	k := openTicker(t)
	const clients = 100
	codes := make(chan websocket.StatusCode, clients)
	for range clients {
		conn := k.dial(t, "")
		go func() {
			_, _, err := conn.Read(context.WithoutCancel(t.Context()))
			codes <- websocket.CloseStatus(err)
		}()
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if err := k.sockets.Shutdown(ctx); err != nil {
		t.Fatal(err)
	}
	for range clients {
		if code := <-codes; code != websocket.StatusGoingAway {
			t.Errorf("a connection ended with %v", code)
		}
	}
	if _, answer, err := websocket.Dial(t.Context(), "ws"+strings.TrimPrefix(k.server.URL, "http")+"/ws", nil); err == nil || answer.Header.Get("Code") != string(errs.Unavailable) {
		t.Errorf("after the shutdown one can connect (%v)", err)
	}
}

func TestFrames(t *testing.T) {
	event := feed.Event{Event: eventlog.Event{Type: "task.created", At: time.UnixMilli(5)}}
	var f stream.Frame
	if text := stream.EncodeFrame(event); json.Unmarshal(text, &f) != nil || f.Timestamp != 5 || string(f.Data) != "{}" {
		t.Errorf("%s", text)
	}
}

func FuzzClientFrame(f *testing.F) {
	for _, seed := range []string{`{"type":"ping"}`, `{"type":"ping","data":{"timestamp":1}}`, `{}`, `null`, `[`, "\x00", `{"type":1}`, `{"type":"ping","data":1e999}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		raw := stream.AnswerFrame(text, time.Now)
		var answer stream.Frame
		if err := json.Unmarshal(raw, &answer); err != nil || answer.Type != "pong" && answer.Type != "error" {
			t.Errorf("%q is answered with %q (%v)", text, raw, err)
		}
	})
}

func FuzzFeedQuery(f *testing.F) {
	for _, seed := range []string{"", "after=1", "type=task.*,message.sent", "type=&agent=a", "after=%", "a=1;b=2"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/events", nil)
		r.URL.RawQuery = text
		query, err := stream.FeedQueryOf(r)
		if err != nil && errs.CodeOf(err) != errs.Invalid {
			t.Errorf("%q is refused with %v", text, err)
		}
		if err == nil && query.After < 0 {
			t.Errorf("%q begins after %d", text, query.After)
		}
	})
}
