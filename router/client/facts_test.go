package client_test

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/cmd/app"
	"github.com/skillrouter/skillrouter/cmd/config"
	"github.com/skillrouter/skillrouter/internal/clock"
	"github.com/skillrouter/skillrouter/learning/learningtest"
	"github.com/skillrouter/skillrouter/router/client"
	"github.com/skillrouter/skillrouter/router/client/clienttest"
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
