package stream_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/skillrouter/skillrouter/comms"
	"github.com/skillrouter/skillrouter/internal/database/databasetest"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/operational/store"
	"github.com/skillrouter/skillrouter/router/stream"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// house is a mailbox on a database with its streams.
type house struct {
	presence *comms.Presence
	mailbox  *comms.Mailbox
	hub      *stream.Hub
	close    func()
}

// open opens a house in dir; close, and the end of the test, end it.
func open(t *testing.T, dir string) house {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	db, err := databasetest.OpenIn(t, dir, "operational", time.Now, log)
	if err != nil {
		t.Fatal(err)
	}
	committing, stopCommitting := context.WithCancel(context.WithoutCancel(t.Context()))
	running, stopRunning := context.WithCancel(committing)
	var committer, runners sync.WaitGroup
	committer.Go(func() { _ = db.Commit.Run(committing) })
	s := store.New(db.Read, db.Commit)
	var h house
	if h.presence, err = comms.NewPresence(t.Context(), s, nil, time.Now, log, comms.PresenceOptions{}); err != nil {
		t.Fatal(err)
	}
	if h.mailbox, err = comms.NewMailbox(t.Context(), h.presence, s, log, comms.MailboxOptions{}); err != nil {
		t.Fatal(err)
	}
	runners.Go(func() { _ = h.presence.Run(running) })
	runners.Go(func() { _ = h.mailbox.Run(running) })
	h.hub = stream.New(h.mailbox, func(w http.ResponseWriter, _ *http.Request, err error) {
		w.Header().Set("Code", string(errs.CodeOf(err)))
		http.Error(w, err.Error(), http.StatusTeapot)
	}, log)
	h.close = sync.OnceFunc(func() {
		ctx, cancel := context.WithTimeout(committing, 3*time.Second)
		defer cancel()
		err := h.hub.Shutdown(ctx)
		stopRunning()
		runners.Wait()
		stopCommitting()
		committer.Wait()
		if err := errors.Join(err, db.Close()); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(h.close)
	return h
}

// serve serves the streams of a house to whoever asks, as the Captain.
func (h house) serve(t *testing.T) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.hub.ServeHTTP(w, r.WithContext(principal.With(r.Context(), principal.Open())))
	}))
	t.Cleanup(func() { h.close(); server.Close() })
	return server
}

func (h house) send(t *testing.T, from, to, signal string) comms.Sent {
	t.Helper()
	return h.sendDraft(t, operational.MessageDraft{From: from, To: to, Signal: signal})
}

func (h house) sendDraft(t *testing.T, d operational.MessageDraft) comms.Sent {
	t.Helper()
	sent, err := h.mailbox.Send(principal.With(t.Context(), principal.Open()), d)
	if err != nil {
		t.Error(err)
	}
	return sent
}

// event is one event of a stream, or a comment, or a change of the retry time.
type event struct {
	id, name, data, comment, retry string
}

// listener reads a stream.
type listener struct {
	*http.Response
	scan *bufio.Scanner
}

func listen(t *testing.T, server *httptest.Server, query, lastEventID string) listener {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/messages?"+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	if lastEventID != "" {
		r.Header.Set("Last-Event-ID", lastEventID)
	}
	return listenTo(t, r)
}

func listenTo(t *testing.T, r *http.Request) listener {
	t.Helper()
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = answer.Body.Close() })
	scan := bufio.NewScanner(answer.Body)
	scan.Buffer(nil, 1<<20)
	return listener{answer, scan}
}

// next reads the next event, comments and retry times included.
func (l listener) next() (event, error) {
	var e event
	seen := false
	for l.scan.Scan() {
		line := l.scan.Text()
		if line == "" {
			if seen {
				return e, nil
			}
			continue
		}
		seen = true
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch field {
		case "":
			e.comment = value
		case "id":
			e.id = value
		case "event":
			e.name = value
		case "data":
			e.data += value
		case "retry":
			e.retry = value
		default:
			return e, fmt.Errorf("the stream has the line %q", line)
		}
	}
	return e, errors.Join(io.EOF, l.scan.Err())
}

// message reads the next event that is a message.
func (l listener) message(t *testing.T) operational.Message {
	t.Helper()
	for {
		e, err := l.next()
		if err != nil {
			t.Fatal(err)
		}
		if e.data == "" {
			continue
		}
		var m operational.Message
		if err := json.Unmarshal([]byte(e.data), &m); err != nil {
			t.Fatal(err)
		}
		if e.id != strconv.FormatInt(m.Seq, 10) || e.name != m.Signal {
			t.Errorf("the event %+v belies its message", e)
		}
		return m
	}
}

func TestLiveMessageIsHandedOver(t *testing.T) {
	h := open(t, t.TempDir())
	server := h.serve(t)
	if h.send(t, "b", "a1", "early").Delivered {
		t.Error("a message to nobody's stream counts as delivered")
	}
	l := listen(t, server, "agent_id=a1", "")
	if got := l.Header.Get("Content-Type"); got != "text/event-stream" || l.StatusCode != http.StatusOK {
		t.Errorf("the answer is %d %s", l.StatusCode, got)
	}
	if e, err := l.next(); err != nil || e.retry == "" || e.data != "" {
		t.Errorf("the stream begins with %+v (%v)", e, err)
	}
	if m := l.message(t); m.Signal != "early" {
		t.Errorf("the first message is %+v", m)
	}
	sent := h.sendDraft(t, operational.MessageDraft{From: "b", To: "a1", Signal: "сигнал: два", Context: json.RawMessage("{\n\"x\": \"a\\nb\"}")})
	if !sent.Delivered {
		t.Error("a message to an open stream does not count as delivered")
	}
	if m := l.message(t); m.Seq != sent.Seq || m.Signal != "сигнал: два" || string(m.Context) != `{"x":"a\nb"}` {
		t.Errorf("the message is %+v", m)
	}
	if sent := h.send(t, "b", "", "all"); !sent.Delivered || l.message(t).Seq != sent.Seq {
		t.Errorf("a broadcast: %+v", sent)
	}
	if sent := h.send(t, "a1", "", "own"); sent.Delivered {
		t.Error("an agent was handed its own broadcast")
	}
	if sent := h.send(t, "b", "a1", "last"); l.message(t).Seq != sent.Seq {
		t.Error("an agent got its own broadcast")
	}
}

func TestCursors(t *testing.T) {
	dir := t.TempDir()
	h := open(t, dir)
	server := h.serve(t)
	ctx := principal.With(t.Context(), principal.Open())
	var before []int64
	for range 3 {
		before = append(before, h.send(t, "b", "", "old").Seq)
	}
	if _, err := h.presence.Heartbeat(ctx, comms.Heartbeat{AgentID: "a1"}); err != nil {
		t.Fatal(err)
	}
	var sent []int64
	for range 5 {
		sent = append(sent, h.send(t, "b", "a1", "x").Seq)
	}
	expect := func(name, query, header string, want ...int64) {
		t.Helper()
		l := listen(t, server, query, header)
		defer l.Body.Close()
		for _, seq := range want {
			if got := l.message(t).Seq; got != seq {
				t.Fatalf("%s: message %d, want %d", name, got, seq)
			}
		}
	}
	expect("no cursor", "agent_id=a1", "", sent...)
	expect("header", "agent_id=a1", fmt.Sprint(sent[2]), sent[3:]...)
	expect("query", fmt.Sprint("agent_id=a1&last_event_id=", sent[1]), "", sent[2:]...)
	expect("the header counts before the query", fmt.Sprint("agent_id=a1&last_event_id=", sent[0]), fmt.Sprint(sent[3]), sent[4:]...)
	expect("a cursor of another log", "agent_id=a1", "999999", sent...)
	if _, err := h.mailbox.Ack(ctx, comms.Ack{AgentID: "a1", Seq: sent[1]}); err != nil {
		t.Fatal(err)
	}
	page, err := h.mailbox.Inbox(ctx, comms.InboxQuery{AgentID: "a1"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.mailbox.Ack(ctx, comms.Ack{AgentID: "a1", MessageIDs: []string{page.Messages[3].ID}}); err != nil {
		t.Fatal(err)
	}
	expect("the agent's own cursor", "agent_id=a1", "", sent[2], sent[4])
	h.close()
	server.Close()
	h = open(t, dir)
	server = h.serve(t)
	expect("after a restart", "agent_id=a1", "", sent[2], sent[4])
	expect("a header after a restart", "agent_id=a1", fmt.Sprint(sent[0]), sent[1:]...)
	expect("earlier broadcasts on purpose", "agent_id=a1&last_event_id=0", "", append(before, sent...)...)
	expect("a newcomer's cursor", "agent_id=new", fmt.Sprint(before[0]), before[1:]...)
	h.send(t, "b", "late", "waits")
	l := listen(t, server, "agent_id=late", "")
	if m := l.message(t); m.Signal != "waits" {
		t.Errorf("an agent got a broadcast from before it was known: %+v", m)
	}
}

func TestExpiredIsHandedToNobody(t *testing.T) {
	h := open(t, t.TempDir())
	server := h.serve(t)
	h.sendDraft(t, operational.MessageDraft{From: "b", To: "a1", Signal: "short", TTLSeconds: 1})
	last := h.send(t, "b", "a1", "long")
	<-time.After(1100 * time.Millisecond)
	if m := listen(t, server, "agent_id=a1&last_event_id=0", "").message(t); m.Seq != last.Seq {
		t.Errorf("the message %+v had expired", m)
	}
}

// TestReconnects reads 1,500 messages over 80 connections, beside a client
// that never reads: each arrives once and in order.
func TestReconnects(t *testing.T) {
	h := open(t, t.TempDir())
	server := h.serve(t)
	never(t, server, "a1")
	for h.mailbox.Streams() == 0 { // broadcasts are for those that are known
		<-time.After(time.Millisecond)
	}
	const messages, connections = 1500, 80
	var sent sync.WaitGroup
	for range 4 {
		sent.Go(func() {
			for i := range messages / 4 {
				to := "a1"
				if i%5 == 0 {
					to = ""
				}
				h.sendDraft(t, operational.MessageDraft{From: "b", To: to, Signal: "n", Context: json.RawMessage(`{"pad":"` + strings.Repeat("x", i%700) + `"}`)})
			}
		})
	}
	var last int64
	got := 0
	for connection := 0; got < messages; connection++ {
		cursor := ""
		if last > 0 {
			cursor = fmt.Sprint(last)
		}
		l := listen(t, server, "agent_id=a1", cursor)
		for range messages/connections + 1 {
			if got == messages {
				break
			}
			m := l.message(t)
			if m.Seq <= last {
				t.Fatalf("message %d comes after %d", m.Seq, last)
			}
			if m.Seq != last+1 {
				t.Fatalf("message %d is followed by %d", last, m.Seq)
			}
			last = m.Seq
			got++
		}
		_ = l.Body.Close()
		if connection > 2*connections {
			t.Fatalf("only %d messages after %d connections", got, connection)
		}
	}
	sent.Wait()
}

// never opens a stream and reads nothing of it.
func never(t *testing.T, server *httptest.Server, agent string) net.Conn {
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
	if _, err := fmt.Fprintf(conn, "GET /messages?agent_id=%s HTTP/1.1\r\nHost: x\r\n\r\n", agent); err != nil {
		t.Fatal(err)
	}
	return conn
}

// TestNeverReaderIsCut fills the connection of a client that never reads. It
// is cut within six seconds, loses nothing, and the next reader gets all.
func TestNeverReaderIsCut(t *testing.T) {
	h := open(t, t.TempDir())
	server := h.serve(t)
	never(t, server, "a1")
	for h.mailbox.Streams() == 0 {
		<-time.After(time.Millisecond)
	}
	pad := json.RawMessage(`{"pad":"` + strings.Repeat("x", 60_000) + `"}`)
	begin := time.Now()
	var count int
	stuck := false
	for !stuck && count < 1000 {
		stuck = !h.sendDraft(t, operational.MessageDraft{From: "captain", To: "a1", Signal: "n", Context: pad}).Delivered // others' share of a mailbox is smaller than the buffers
		count++
	}
	if !stuck {
		t.Fatal("the client that never reads was handed 60 MB")
	}
	full := time.Now()
	for h.mailbox.Streams() > 0 {
		<-time.After(10 * time.Millisecond)
		if time.Since(full) > 6*time.Second {
			t.Fatal("a client that never reads is not cut within 6 s")
		}
	}
	t.Logf("full after %v and %d messages, cut %v later", full.Sub(begin), count, time.Since(full))
	l := listen(t, server, "agent_id=a1", "")
	for i := range count {
		if m := l.message(t); m.Seq != int64(i+1) {
			t.Fatalf("message %d comes in place %d", m.Seq, i+1)
		}
	}
}

func TestShutdownEndsStreams(t *testing.T) {
	h := open(t, t.TempDir())
	server := h.serve(t)
	const streams = 300
	var told, opened atomic.Int32
	var clients sync.WaitGroup
	for i := range streams {
		clients.Go(func() {
			l := listen(t, server, fmt.Sprint("agent_id=a", i), "")
			retries := 0
			for {
				e, err := l.next()
				if err != nil {
					break
				}
				if e.data != "" || e.id != "" {
					t.Errorf("the farewell is taken for a message: %+v", e)
				}
				if e.retry != "" {
					if retries++; retries == 1 {
						opened.Add(1)
					}
				}
			}
			if retries == 2 {
				told.Add(1)
			}
		})
	}
	for opened.Load() < streams {
		<-time.After(time.Millisecond)
	}
	slow := never(t, server, "slow")
	defer slow.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	begin := time.Now()
	if err := h.hub.Shutdown(ctx); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d streams ended in %v", streams, time.Since(begin))
	clients.Wait()
	if told.Load() != streams {
		t.Errorf("%d of %d clients were told to come back", told.Load(), streams)
	}
	if h.mailbox.Streams() != 0 {
		t.Errorf("%d streams are left", h.mailbox.Streams())
	}
	l := listen(t, server, "agent_id=a1", "")
	if got := l.Header.Get("Code"); got != string(errs.Unavailable) {
		t.Errorf("a stream is opened after the shutdown (code %q)", got)
	}
}

func TestStreamsOfAnAgentAreBounded(t *testing.T) {
	h := open(t, t.TempDir())
	server := h.serve(t)
	for range comms.MaxStreamsPerAgent {
		if l := listen(t, server, "agent_id=a1", ""); l.StatusCode != http.StatusOK {
			t.Fatalf("the answer is %d", l.StatusCode)
		}
	}
	if l := listen(t, server, "agent_id=a1", ""); l.Header.Get("Code") != string(errs.RateLimited) {
		t.Errorf("one stream too many is answered %d %s", l.StatusCode, l.Header.Get("Code"))
	}
	if l := listen(t, server, "agent_id=a2", ""); l.StatusCode != http.StatusOK {
		t.Errorf("another agent's stream is answered %d", l.StatusCode)
	}
}

// quiet is a response that notes what is written, and when.
type quiet struct {
	mu     sync.Mutex
	header http.Header
	text   strings.Builder
}

func (q *quiet) Header() http.Header { return q.header }
func (q *quiet) WriteHeader(int)     {}
func (q *quiet) Flush()              {}

func (q *quiet) Write(p []byte) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.text.Write(p)
}

func (q *quiet) count(part string) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return strings.Count(q.text.String(), part)
}

func TestKeepAlive(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		h := open(t, dir)
		defer h.close()
		out := &quiet{header: http.Header{}}
		ctx, cancel := context.WithCancel(principal.With(t.Context(), principal.Open()))
		var served sync.WaitGroup
		served.Go(func() {
			h.hub.ServeHTTP(out, httptest.NewRequestWithContext(ctx, http.MethodGet, "/messages?agent_id=a1", nil))
		})
		for i := range 4 {
			synctest.Wait()
			if got := out.count(": keep-alive\n\n"); got != i {
				t.Errorf("%d keep-alives after %d s", got, i*15)
			}
			<-time.After(stream.KeepAlive)
		}
		cancel()
		served.Wait()
	})
}

func FuzzEventID(f *testing.F) {
	for _, seed := range []string{"", "0", "1", "-1", "+1", " 1", "1 ", "1\n", "١", "0x1", "1e3", "9223372036854775807", "9223372036854775808", "007"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		seq, err := stream.ParseEventID("last_event_id", text)
		if err != nil {
			if errs.CodeOf(err) != errs.Invalid || errs.FieldOf(err) != "last_event_id" {
				t.Errorf("%q is refused with %v", text, err)
			}
			return
		}
		if seq < 0 || strings.TrimLeft(text, "0") != strings.TrimPrefix(strconv.FormatInt(seq, 10), "0") {
			t.Errorf("%q is read as %d", text, seq)
		}
	})
}
