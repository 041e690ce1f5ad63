package client_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"skillrouter"
	"skillrouter/cmd/app"
	"skillrouter/cmd/config"
	"skillrouter/learning/fact"
	"skillrouter/learning/learningtest"
	"skillrouter/router/client"
)

// serveAt runs a whole router that goes by a clock, until the test ends or stop is called.
func serveAt(t *testing.T, now skillrouter.Clock) (c *client.Client, stop func()) {
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
		return learningtest.FactWorld{Facts: c.Facts, Advance: func(d time.Duration) { ms.Add(d.Milliseconds()) }}
	})
}

// TestRememberStampede has a hundred ask for one value at once: it is computed once.
func TestRememberStampede(t *testing.T) {
	c, _ := serveAt(t, time.Now)
	var computed atomic.Int32
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			value, err := client.Remember(t.Context(), c, "schema", client.RememberOptions{
				Missed: func(err error) { t.Errorf("missed: %v", err) },
			}, func(ctx context.Context) (map[string]int, error) {
				computed.Add(1)
				select { // long enough for all to have asked
				case <-time.After(300 * time.Millisecond):
				case <-ctx.Done():
				}
				return map[string]int{"x": 1}, nil
			})
			if err != nil || value["x"] != 1 {
				t.Errorf("%v, %v", value, err)
			}
		})
	}
	all.Wait()
	if n := computed.Load(); n != 1 {
		t.Errorf("computed %d times", n)
	}
	stats, err := c.Facts.Stats(t.Context())
	if err != nil || stats.Cache.Leases != 1 || stats.Cache.Stored != 1 || stats.Cache.Hits+stats.Cache.Waited != 99 {
		t.Errorf("%+v, %v", stats.Cache, err)
	}
}

// TestRememberPassesOn has the ones who compute fail, one after the other.
func TestRememberPassesOn(t *testing.T) {
	c, _ := serveAt(t, time.Now)
	var computed, failed atomic.Int32
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			value, err := client.Remember(t.Context(), c, "k", client.RememberOptions{}, func(context.Context) (int, error) {
				if n := computed.Add(1); n < 4 {
					return 0, errors.New("not today")
				}
				return 7, nil
			})
			if err != nil {
				failed.Add(1)
			} else if value != 7 {
				t.Errorf("value %d", value)
			}
		})
	}
	all.Wait()
	if computed.Load() != 4 || failed.Load() != 3 {
		t.Errorf("computed %d times, failed %d times", computed.Load(), failed.Load())
	}
}

func TestRememberWithoutAUsableCache(t *testing.T) {
	c, stop := serveAt(t, time.Now)
	ask := func(key string, compute func(context.Context) (string, error)) (value string, missed []error, err error) {
		value, err = client.Remember(t.Context(), c, key, client.RememberOptions{Missed: func(err error) { missed = append(missed, err) }}, compute)
		return value, missed, err
	}
	computed := 0
	answer := func(text string) func(context.Context) (string, error) {
		return func(context.Context) (string, error) { computed++; return text, nil }
	}
	for name, text := range map[string]string{"secret": "password=hunter2-and-3", "large": strings.Repeat("x", 2<<20)} {
		computed = 0
		for range 2 {
			if value, missed, err := ask(name, answer(text)); err != nil || value != text || len(missed) != 1 {
				t.Errorf("%s: %.20q, %v, %v", name, value, missed, err)
			}
		}
		if computed != 2 {
			t.Errorf("%s: computed %d times", name, computed)
		}
	}
	if _, err := c.Facts.Remember(t.Context(), fact.Draft{Key: "number", Value: []byte("5")}); err != nil {
		t.Fatal(err)
	}
	if value, missed, err := ask("number", answer("text")); err != nil || value != "text" || len(missed) != 1 {
		t.Errorf("another type: %q, %v, %v", value, missed, err)
	}
	func() { // a panic gives the lease up
		defer func() { _ = recover() }()
		_, _, _ = ask("panics", func(context.Context) (string, error) { panic("boom") })
	}()
	if value, missed, err := ask("panics", answer("fine")); err != nil || value != "fine" || len(missed) != 0 {
		t.Errorf("after a panic: %q, %v, %v", value, missed, err)
	}
	stop()
	if value, missed, err := ask("away", answer("alone")); err != nil || value != "alone" || len(missed) != 1 {
		t.Errorf("without a router: %q, %v, %v", value, missed, err)
	}
}

// TestStopAnswersWhoWaits has the router stop while somebody waits for another's value.
func TestStopAnswersWhoWaits(t *testing.T) {
	c, stop := serveAt(t, time.Now)
	if _, err := c.Facts.Lease(t.Context(), fact.CacheRequest{Key: "k"}); err != nil {
		t.Fatal(err)
	}
	answered := make(chan error, 1)
	go func() {
		answer, err := c.Facts.Lease(t.Context(), fact.CacheRequest{Key: "k", WaitMS: fact.MaxCacheWait.Milliseconds()})
		if err == nil && answer.Status != fact.CacheWait {
			err = fmt.Errorf("answer %+v", answer)
		}
		answered <- err
	}()
	for { // until it waits
		stats, err := c.Facts.Stats(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if stats.Cache.Waiting == 1 {
			break
		}
	}
	begin := time.Now()
	stop()
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("the router took %s to stop", took)
	}
	if err := <-answered; err != nil {
		t.Error(err)
	}
}

// TestFactShortCutAnswersAsTheTypedRoute compares the two ways to a fact.
func TestFactShortCutAnswersAsTheTypedRoute(t *testing.T) {
	c, _ := serveAt(t, time.Now)
	if _, err := c.Facts.Remember(t.Context(), fact.Draft{Persona: "coder", Key: "a/b ü", Value: []byte(`{"x":"<&>"}`)}); err != nil {
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
