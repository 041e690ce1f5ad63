package client_test

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"skillrouter/cmd/app"
	"skillrouter/cmd/config"
	"skillrouter/internal/clock"
	"skillrouter/learning/fact"
	"skillrouter/learning/learningtest"
	"skillrouter/router/client"
	"skillrouter/router/client/clienttest"
)

// serveAt runs a whole router that goes by a clock, until the test ends or stop is called.
func serveAt(t *testing.T, now clock.Clock) (c *client.Client, stop func()) {
	t.Helper()
	settings := config.Default()
	settings.Data, settings.Listen = t.TempDir(), "127.0.0.1:0"
	a, err := app.New(t.Context(), settings, slog.New(slog.DiscardHandler), app.Options{Now: now})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return dial(t, a.URL(), client.Options{}), stop
}

func TestFactContract(t *testing.T) {
	learningtest.Facts(t, func(t *testing.T) learningtest.FactWorld {
		var ms atomic.Int64
		ms.Store(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC).UnixMilli())
		c, _ := serveAt(t, func() time.Time { return time.UnixMilli(ms.Load()) })
		return learningtest.FactWorld{Facts: clienttest.Facts{C: c}, Advance: func(d time.Duration) { ms.Add(d.Milliseconds()) }}
	})
}

// TestFactShortCutAnswersAsTheTypedRoute compares the two ways to a fact.
func TestFactShortCutAnswersAsTheTypedRoute(t *testing.T) {
	c, _ := serveAt(t, time.Now)
	if _, err := client.Send(t.Context(), c, fact.Service.Remember, fact.Draft{Persona: "coder", Key: "a/b ü", Value: []byte(`{"x":"<&>"}`)}); err != nil {
		t.Fatal(err)
	}
	get := func(path string) (int, http.Header, string) {
		response, err := http.Get(c.BaseURL() + path)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		var text strings.Builder
		if err := response.Write(&text); err != nil {
			t.Fatal(err)
		}
		_, body, _ := strings.Cut(text.String(), "\r\n\r\n")
		return response.StatusCode, response.Header, body
	}
	for _, path := range []string{"/api/facts/coder/a%2Fb%20%C3%BC", "/api/facts/coder/none", "/api/facts/..%2Fx/k", "/api/facts/coder/%00", "/api/facts/coder/%FF"} {
		status, header, body := get(path)
		typed, typedHeader, typedBody := get(path + "?stale_ok=false")
		body, typedBody = counted.Replace(body), counted.Replace(typedBody)
		body, _, _ = strings.Cut(body, `"last_accessed"`)
		typedBody, _, _ = strings.Cut(typedBody, `"last_accessed"`)
		if status != typed || header.Get("Content-Type") != typedHeader.Get("Content-Type") || body != strings.TrimSpace(typedBody) && body != typedBody {
			t.Errorf("%s: %d %s\n%d %s", path, status, body, typed, typedBody)
		}
	}
}

// counted takes the count of accesses out, which differs.
var counted = strings.NewReplacer(`"access_count":1`, "", `"access_count":2`, "")
