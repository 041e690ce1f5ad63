package llm_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/router/llm"
)

func TestChat(t *testing.T) {
	u := script(t, func(_ int, w http.ResponseWriter, _ *http.Request) { says(w, 200, completion) })
	e, _ := endpoint(t, u.URL, llm.Options{Key: "sk-1"})
	got, err := answer(t.Context(), e, "hi <&> there")
	if err != nil || got != "hello" {
		t.Fatal(got, err)
	}
	wire := map[string]any{
		"model": "qwen3-coder", "stream": false, "max_tokens": 50.0, "temperature": 0.0,
		"messages":        []any{map[string]any{"role": "user", "content": "hi <&> there"}},
		"response_format": map[string]any{"type": "json_schema", "json_schema": map[string]any{"name": "answer", "strict": true, "schema": map[string]any{"type": "object"}}},
	}
	if diff := cmp.Diff(wire, u.body(t)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if r := u.requests()[0]; r.Path != "/v1/chat/completions" || r.Header.Get("Authorization") != "Bearer sk-1" {
		t.Errorf("%s with %v", r.Path, r.Header)
	}
}

// TestFaults goes over what an endpoint can do wrong.
func TestFaults(t *testing.T) {
	drop := func(w http.ResponseWriter) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			_ = conn.Close()
		}
	}
	tests := []struct {
		name   string
		answer func(w http.ResponseWriter, r *http.Request)
		code   errs.Code
		holds  string
		calls  int
	}{
		{"prose instead of JSON", func(w http.ResponseWriter, _ *http.Request) { says(w, 200, "Sure! Here is your answer.") }, errs.Unavailable, "no chat completion", 1},
		{"nothing", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(200) }, errs.Unavailable, "no chat completion", 1},
		{"no choices", func(w http.ResponseWriter, _ *http.Request) { says(w, 200, `{"error":"model is loading"}`) }, errs.Unavailable, "no chat completion", 1},
		{"bad key", func(w http.ResponseWriter, _ *http.Request) { says(w, 401, `{"error":{"message":"no"}}`) }, errs.Unavailable, "llm.api_key", 1},
		{"no such model", func(w http.ResponseWriter, _ *http.Request) { says(w, 404, `{"error":{"message":"no"}}`) }, errs.Unavailable, "llm.model", 1},
		{"bad request", func(w http.ResponseWriter, _ *http.Request) { says(w, 400, `{"error":{"message":"no"}}`) }, errs.Invalid, "400", 1},
		{"too long, says the endpoint", func(w http.ResponseWriter, _ *http.Request) {
			says(w, 400, `{"error":{"message":"x","code":"context_length_exceeded"}}`)
		}, errs.TooLarge, "window", 1},
		{"not implemented", func(w http.ResponseWriter, _ *http.Request) { says(w, 501, `{}`) }, errs.Unavailable, "501", 1},
		{"overloaded", func(w http.ResponseWriter, _ *http.Request) { says(w, 429, `{}`) }, errs.RateLimited, "too much", 3},
		{"failing", func(w http.ResponseWriter, _ *http.Request) { says(w, 500, `boom`) }, errs.Unavailable, "500", 3},
		{"dropping before it answers", func(w http.ResponseWriter, _ *http.Request) { drop(w) }, errs.Unavailable, "broke", 1},
		{"dropping in the middle", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			streams(w, piece("a"))
			drop(w)
		}, errs.Unavailable, "broke", 1},
		{"redirecting", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://192.0.2.1/v1/chat/completions", http.StatusTemporaryRedirect)
		}, errs.Unavailable, "redirections", 1},
		{"hanging", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, errs.Unavailable, "did not begin", 1},
		{"hanging in the middle", func(w http.ResponseWriter, r *http.Request) { streams(w, piece("a")); <-r.Context().Done() }, errs.Unavailable, "in the middle", 1},
		{"never ending", func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				streams(w, ": still there\n\n")
			}
		}, errs.Unavailable, "", 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			u := script(t, func(_ int, w http.ResponseWriter, r *http.Request) { test.answer(w, r) })
			timeouts := llm.Timeouts{FirstByte: 300 * time.Millisecond, Idle: 300 * time.Millisecond, Total: time.Second}
			e, _ := endpoint(t, u.URL, llm.Options{Timeouts: timeouts})
			_, err := answer(t.Context(), e, "hi")
			if got := errs.CodeOf(err); got != test.code {
				t.Errorf("%v, want %s", err, test.code)
			}
			hold(t, "message", errs.MessageOf(err), test.holds)
			if n := len(u.requests()); n != test.calls {
				t.Errorf("%d calls, want %d", n, test.calls)
			}
		})
	}
}

func TestRetries(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	tests := []struct {
		name   string
		answer func(n int, w http.ResponseWriter)
		waits  []time.Duration
		code   errs.Code
	}{
		{"twice and then well", func(n int, w http.ResponseWriter) {
			if n < 2 {
				says(w, 503, `{}`)
				return
			}
			says(w, 200, completion)
		}, []time.Duration{500 * time.Millisecond, time.Second}, ""},
		{"as the endpoint asks", func(n int, w http.ResponseWriter) {
			if n == 0 {
				w.Header().Set("Retry-After", "7")
				says(w, 429, `{}`)
				return
			}
			says(w, 200, completion)
		}, []time.Duration{7 * time.Second}, ""},
		{"at a date", func(n int, w http.ResponseWriter) {
			if n == 0 {
				w.Header().Set("Retry-After", now.Add(9*time.Second).Format(http.TimeFormat))
				says(w, 429, `{}`)
				return
			}
			says(w, 200, completion)
		}, []time.Duration{9 * time.Second}, ""},
		{"not in an hour", func(_ int, w http.ResponseWriter) {
			w.Header().Set("Retry-After", "3600")
			says(w, 429, `{}`)
		}, nil, errs.RateLimited},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			u := script(t, func(n int, w http.ResponseWriter, _ *http.Request) { test.answer(n, w) })
			e, w := endpoint(t, u.URL, llm.Options{Now: func() time.Time { return now }})
			_, err := answer(t.Context(), e, "hi")
			if errs.CodeOf(err) != test.code {
				t.Error(err)
			}
			if diff := cmp.Diff(test.waits, w.all); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestNobodyThere: a refused connection reached no model, and so is tried again.
func TestNobodyThere(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = listener.Close()
	e, w := endpoint(t, "http://"+listener.Addr().String()+"/v1/", llm.Options{})
	_, err = answer(t.Context(), e, "hi")
	if errs.CodeOf(err) != errs.Unavailable {
		t.Error(err)
	}
	hold(t, "message", errs.MessageOf(err), "no model answers", "llm.base_url")
	if len(w.all) != llm.DefaultRetries {
		t.Errorf("%d further attempts", len(w.all))
	}
}

func TestCancelled(t *testing.T) {
	u := script(t, func(_ int, _ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	e, _ := endpoint(t, u.URL, llm.Options{})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := answer(ctx, e, "hi")
	if errs.CodeOf(err) != errs.Unavailable || !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

// TestEnvironmentsProxyIsIgnored: what leaves goes where the settings say.
func TestEnvironmentsProxyIsIgnored(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:9")
	t.Setenv("http_proxy", "http://127.0.0.1:9")
	e, _ := endpoint(t, "http://endpoint.invalid", llm.Options{})
	_, err := e.Models(t.Context())
	if err == nil || strings.Contains(err.Error(), "127.0.0.1:9") {
		t.Errorf("the proxy was asked: %v", err)
	}
}

func TestBases(t *testing.T) {
	for base, want := range map[string]string{
		"http://localhost:11434": "http://localhost:11434/v1", "http://localhost:11434/": "http://localhost:11434/v1",
		"http://localhost:1234/v1/": "http://localhost:1234/v1", "https://host/openai/v1": "https://host/openai/v1", "http://[::1]:8080": "http://[::1]:8080/v1",
	} {
		e, err := llm.NewEndpoint(base, llm.Options{})
		if err != nil || e.Base() != want {
			t.Errorf("%s is %v (%v), want %s", base, e, err, want)
		}
	}
	for _, base := range []string{"", "localhost:11434", "ftp://host", "http://", "http://u:p@host", "http://host?x=1", "http://host#x", "http://host\n"} {
		if _, err := llm.NewEndpoint(base, llm.Options{}); errs.CodeOf(err) != errs.Invalid {
			t.Errorf("%q: %v", base, err)
		}
	}
	if _, err := llm.NewEndpoint("http://host", llm.Options{Key: "a\r\nX: y"}); errs.CodeOf(err) != errs.Invalid {
		t.Errorf("a key with a line break: %v", err)
	}
}

// TestKeyIsNotPrinted prints a key in every way that logs and dumps do, and makes it fail everywhere.
func TestKeyIsNotPrinted(t *testing.T) {
	const key = "sk-very-secret"
	var log strings.Builder
	logger := slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	u := script(t, func(_ int, w http.ResponseWriter, r *http.Request) {
		says(w, 500, `{"error":"bad key `+r.Header.Get("Authorization")+`"}`)
	})
	options := llm.Options{Key: key, Log: logger}
	e, _ := endpoint(t, u.URL, options)
	_, err := answer(t.Context(), e, "hi")
	text, _ := json.Marshal(map[string]any{"key": options.Key})
	logger.Error("failed", "error", err, "key", options.Key, "timeouts", options.Timeouts)
	_, _ = fmt.Fprintf(&log, "%v %+v %#v %s %s", options, options, options.Key, text, err)
	if strings.Contains(log.String(), key) {
		t.Errorf("the key is in %s", log.String())
	}
}
