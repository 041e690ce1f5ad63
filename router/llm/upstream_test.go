package llm_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/router/llm"
)

// seen is a request as the scripted endpoint got it.
type seen struct {
	Method, Path string
	Header       http.Header
	Body         []byte
}

// upstream is an OpenAI-compatible endpoint that does what a test says.
type upstream struct {
	*httptest.Server
	mu   sync.Mutex
	seen []seen
}

// script starts an endpoint; answer gets the number of the request, from 0.
func script(t *testing.T, answer func(n int, w http.ResponseWriter, r *http.Request)) *upstream {
	t.Helper()
	u := &upstream{}
	u.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		u.mu.Lock()
		n := len(u.seen)
		u.seen = append(u.seen, seen{r.Method, r.URL.RequestURI(), r.Header.Clone(), body})
		u.mu.Unlock()
		answer(n, w, r)
	}))
	t.Cleanup(func() {
		u.CloseClientConnections()
		u.Close()
	})
	return u
}

// requests returns what was asked so far.
func (u *upstream) requests() []seen {
	u.mu.Lock()
	defer u.mu.Unlock()
	return append([]seen(nil), u.seen...)
}

// body returns the one request's body, decoded.
func (u *upstream) body(t *testing.T) map[string]any {
	t.Helper()
	all := u.requests()
	if len(all) != 1 {
		t.Fatalf("%d requests, want 1", len(all))
	}
	var body map[string]any
	if err := json.Unmarshal(all[0].Body, &body); err != nil {
		t.Fatal(err)
	}
	return body
}

// says answers with a status and a JSON text.
func says(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text)
}

// streams answers with server-sent events, each handed over at once.
func streams(w http.ResponseWriter, events ...string) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, event := range events {
		_, _ = io.WriteString(w, event)
		w.(http.Flusher).Flush()
	}
}

const completion = `{"id":"c1","object":"chat.completion","created":1,"model":"qwen3-coder","choices":[{"index":0,"message":{"role":"assistant","content":"hello"},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11}}`

// piece is one event of a stream with that content.
func piece(content string) string {
	text, _ := json.Marshal(content)
	return `data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"qwen3-coder","choices":[{"index":0,"delta":{"content":` + string(text) + `},"finish_reason":null}]}` + "\n\n"
}

const (
	lastPiece = `data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"qwen3-coder","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n" +
		`data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"qwen3-coder","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11}}` + "\n\n"
	done = "data: [DONE]\n\n"
)

// waits records the waits between attempts, and takes none.
type waits struct{ all []time.Duration }

func (w *waits) sleep(ctx context.Context, d time.Duration) error {
	w.all = append(w.all, d)
	return ctx.Err()
}

// endpoint makes an Endpoint that never waits and whose chance is always 1.
func endpoint(t *testing.T, base string, options llm.Options) (*llm.Endpoint, *waits) {
	t.Helper()
	w := &waits{}
	options.Sleep, options.Chance = w.sleep, func() float64 { return 1 }
	e, err := llm.NewEndpoint(base, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e, w
}

// answer has a model answer a user's text.
func answer(ctx context.Context, e *llm.Endpoint, text string) (string, error) {
	return llm.NewChat(e, "qwen3-coder", 4096).Answer(ctx, []llm.Message{{Role: llm.RoleUser, Content: text}}, 50, json.RawMessage(`{"type":"object"}`))
}

func hold(t *testing.T, what, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%s %q does not hold %q", what, text, part)
		}
	}
}
