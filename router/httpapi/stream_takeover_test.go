package httpapi_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"skillrouter/internal/errs"
	"skillrouter/internal/principal"
	"skillrouter/router/httpapi"
)

// pipes is a listener whose connections are pipes, for virtual time.
type pipes struct {
	made   chan net.Conn
	closed chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.made:
		return conn, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { close(p.closed); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8025} }

// dial opens a connection and asks.
func (p *pipes) dial(t *testing.T, request string) (net.Conn, *bufio.Reader) {
	t.Helper()
	here, there := net.Pipe()
	p.made <- there
	if _, err := io.WriteString(here, request); err != nil {
		t.Fatal(err)
	}
	return here, bufio.NewReader(here)
}

// begun is a handler that takes the connection over, as streams do, and writes its answer's rest to it.
type begun struct{ cause chan error }

func (begun) ServeHTTP(http.ResponseWriter, *http.Request) { panic("it begins") }

func (b begun) Begin(w http.ResponseWriter, r *http.Request) (live func() int64) {
	w.WriteHeader(http.StatusOK)
	control := http.NewResponseController(w)
	_ = control.Flush()
	conn, _, err := control.Hijack()
	if err != nil {
		panic(err)
	}
	ctx := r.Context()
	return func() int64 {
		defer conn.Close()
		<-ctx.Done()
		b.cause <- context.Cause(ctx)
		return 42
	}
}

// shared is a log that is written by several goroutines.
type shared struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *shared) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *shared) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// TestStreamThatGoesOn holds that a stream which took its connection over lasts beyond its request, as long as its caller's
// right to it, and is logged and counted once, at its end, with the time that it was open.
func TestStreamThatGoesOn(t *testing.T) {
	someone := principal.Principal{AgentID: "a", Scopes: []principal.Scope{principal.ScopeAgent}}
	synctest.Test(t, func(t *testing.T) {
		known := &changingSecrets{secrets: maps.Clone(secrets{"s": someone})}
		log, handler := &shared{}, begun{make(chan error, 1)}
		s := httpapi.New(httpapi.Services{Auth: known, Messages: handler}, httpapi.Options{
			Log: slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		})
		listener := &pipes{make(chan net.Conn), make(chan struct{})}
		server := &http.Server{Handler: s, WriteTimeout: httpapi.WriteTimeout, ReadHeaderTimeout: httpapi.ReadHeaderTimeout}
		served := make(chan struct{})
		go func() { defer close(served); _ = server.Serve(listener) }()
		conn, reader := listener.dial(t, "GET /messages HTTP/1.1\r\nHost: 127.0.0.1:8025\r\nX-Request-Id: one\r\nAuthorization: Bearer s\r\n\r\n")
		answer, err := http.ReadResponse(reader, nil)
		if err != nil || answer.StatusCode != http.StatusOK || answer.Header.Get("X-Request-Id") != "one" {
			t.Fatalf("the answer is %+v (%v)", answer, err)
		}
		const open = 7 * httpapi.RecheckEvery // beyond the time that a request may take
		<-time.After(open)
		synctest.Wait()
		if len(handler.cause) > 0 || strings.Contains(log.String(), `"msg":"request"`) {
			t.Fatalf("it ended with its request; logged is %s", log)
		}
		known.change(func(known secrets) { delete(known, "s") })
		if cause := <-handler.cause; errs.CodeOf(cause) != errs.Unauthenticated {
			t.Errorf("it ends with %v", cause)
		}
		synctest.Wait()
		var said struct {
			Route   string  `json:"route"`
			Status  int     `json:"status"`
			Took    float64 `json:"duration_ms"`
			Bytes   int64   `json:"bytes"`
			AgentID string  `json:"agent_id"`
			ID      string  `json:"request_id"`
		}
		lines := strings.Split(strings.TrimSpace(log.String()), "\n")
		if err := json.Unmarshal([]byte(lines[len(lines)-1]), &said); err != nil || len(lines) != 1 {
			t.Fatalf("logged is %s (%v)", log, err)
		}
		if least := float64(open / time.Millisecond); said.Took < least || said.Route != "/messages" || said.Status != http.StatusOK || said.Bytes != 42 || said.AgentID != "a" || said.ID != "one" {
			t.Errorf("logged is %+v", said)
		}
		_ = conn.Close()
		counted, of := listener.dial(t, "GET /metrics HTTP/1.1\r\nHost: 127.0.0.1:8025\r\nConnection: close\r\n\r\n")
		text, err := io.ReadAll(of)
		if want := fmt.Sprintf("skillrouter_http_requests_total{method=%q,route=%q,status=%q} 1", "GET", "/messages", "200"); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("counted is %s (%v)", text, err)
		}
		_ = counted.Close()
		_ = server.Close()
		<-served
	})
}
