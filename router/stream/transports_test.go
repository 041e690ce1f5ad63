package stream_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/router/stream"
)

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
