package stream_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"skillrouter/internal/principal"
	"skillrouter/router/stream"
)

// TestIdleStreamsTakeLittle holds that an idle stream has two goroutines: net/http's own, with the handlers' stack, has ended.
func TestIdleStreamsTakeLittle(t *testing.T) {
	h := open(t, t.TempDir())
	server := h.serve(t)
	const streams = 50
	greeted := func(i int) {
		reader := bufio.NewReader(never(t, server, fmt.Sprint("a", i)))
		for line := ""; line != ": connected\n"; {
			var err error
			if line, err = reader.ReadString('\n'); err != nil {
				t.Fatal(err)
			}
		}
	}
	greeted(streams)
	before := runtime.NumGoroutine() // the first stream may have begun one of its own, or both
	for i := range streams {
		greeted(i)
	}
	for begin := time.Now(); runtime.NumGoroutine() > before+2*streams+2; <-time.After(time.Millisecond) {
		if time.Since(begin) > 5*time.Second {
			t.Fatalf("%d streams take %d goroutines", streams, runtime.NumGoroutine()-before)
		}
	}
}

// TestTransports streams over each kind of connection: what is sent arrives, a client that goes away is noticed, and the end is
// one that clients take for the end.
func TestTransports(t *testing.T) {
	for name, c := range map[string]struct {
		tls   bool
		proto int
	}{"HTTP/1.1": {false, 1}, "HTTP/1.1 over TLS": {true, 1}, "HTTP/2": {true, 2}} {
		t.Run(name, func(t *testing.T) {
			h := open(t, t.TempDir())
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				h.hub.ServeHTTP(w, r.WithContext(principal.With(r.Context(), principal.Open())))
			}))
			server.EnableHTTP2 = c.proto == 2
			if c.tls {
				server.StartTLS()
			} else {
				server.Start()
			}
			t.Cleanup(func() { h.close(); server.Close() })
			ask := func() listener {
				t.Helper()
				r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/messages?agent_id=a1", nil)
				if err != nil {
					t.Fatal(err)
				}
				answer, err := server.Client().Do(r)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = answer.Body.Close() })
				if answer.ProtoMajor != c.proto || answer.Header.Get("Date") == "" || answer.Header.Get("X-Accel-Buffering") != "no" {
					t.Errorf("the answer is %s %v", answer.Proto, answer.Header)
				}
				return listener{answer, bufio.NewScanner(answer.Body)}
			}
			l := ask()
			var last int64
			for range 3 {
				last = h.send(t, "b", "a1", "x").Seq
				if m := l.message(t); m.Seq != last {
					t.Errorf("message %d, want %d", m.Seq, last)
				}
			}
			_ = l.Body.Close()
			for begin := time.Now(); h.hub.Count() > 0; <-time.After(time.Millisecond) {
				if time.Since(begin) > 5*time.Second {
					t.Fatal("a client that went away is not noticed")
				}
			}
			l = ask()
			if _, err := l.next(); err != nil {
				t.Fatal(err)
			}
			h.close()
			for {
				if _, err := l.next(); err != nil {
					if err.Error() != io.EOF.Error() { // anything else is joined to it
						t.Errorf("the stream ends with %v", err)
					}
					return
				}
			}
		})
	}
}

// TestRawAnswers looks at the bytes: those of HTTP/1.0, which has no chunks, and of a client that says more than its request.
func TestRawAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		request, begin, end string
	}{
		"HTTP/1.0":          {request: "GET /messages?agent_id=a1 HTTP/1.0\r\n\r\n", begin: "HTTP/1.0 200 OK\r\n", end: "come back\n\n"},
		"HTTP/1.1":          {request: "GET /messages?agent_id=a1 HTTP/1.1\r\nHost: x\r\n\r\n", begin: "HTTP/1.1 200 OK\r\n", end: "come back\n\n\r\n0\r\n\r\n"},
		"says more at once": {request: "GET /messages?agent_id=a1 HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\n", begin: "HTTP/1.1 200 OK\r\n", end: "come back\n\n\r\n0\r\n\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			h := open(t, t.TempDir())
			server := h.serve(t)
			conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", server.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if _, err := io.WriteString(conn, c.request); err != nil {
				t.Fatal(err)
			}
			for h.hub.Count() == 0 {
				<-time.After(time.Millisecond)
			}
			h.send(t, "b", "a1", "word")
			reader, text := bufio.NewReader(conn), strings.Builder{}
			for !strings.Contains(text.String(), "event: word\n") {
				line, err := reader.ReadString('\n')
				if err != nil {
					t.Fatal(err)
				}
				text.WriteString(line)
			}
			h.close()
			rest, err := io.ReadAll(reader)
			if text.Write(rest); !strings.HasPrefix(text.String(), c.begin) || !strings.HasSuffix(text.String(), c.end) {
				t.Errorf("the answer is %q (%v)", text.String(), err)
			}
		})
	}
}

// TestWakes sends to a stream that has been silent for long, and shortly after: nothing is lost and nothing comes twice, and
// each silence has its keep-alives.
func TestWakes(t *testing.T) {
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
		synctest.Wait()
		sent, alive := 0, 0
		for _, silence := range []time.Duration{time.Second, stream.KeepAlive - time.Second, 2*stream.KeepAlive + time.Second, time.Second, 3*stream.KeepAlive + time.Second} {
			<-time.After(silence)
			alive += int(silence / stream.KeepAlive)
			for range 3 {
				h.send(t, "b", "a1", "n")
				sent++
			}
			synctest.Wait()
			if messages, keeps := out.count("event: n\n"), out.count(": keep-alive\n\n"); messages != sent || keeps != alive {
				t.Errorf("after %v of silence there are %d messages and %d keep-alives, want %d and %d", silence, messages, keeps, sent, alive)
			}
		}
		for id := range sent {
			if out.count(fmt.Sprintf("id: %d\n", id+1)) != 1 {
				t.Errorf("message %d came %d times", id+1, out.count(fmt.Sprintf("id: %d\n", id+1)))
			}
		}
		cancel()
		served.Wait()
	})
}
