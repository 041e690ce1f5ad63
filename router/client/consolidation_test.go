package client_test

import (
	"context"
	"log/slog"
	"testing"

	"github.com/skillrouter/skillrouter/cmd/app"
	"github.com/skillrouter/skillrouter/cmd/config"
	"github.com/skillrouter/skillrouter/learning/learningtest"
	"github.com/skillrouter/skillrouter/router/client"
	"github.com/skillrouter/skillrouter/router/client/clienttest"
)

// consolidating runs a whole router that accepts proposals from threshold, until the test ends or stop is called.
func consolidating(t *testing.T, dir string, threshold float64) (c *client.Client, stop func()) {
	t.Helper()
	settings := config.Default()
	settings.Data, settings.Listen, settings.Consolidation.Threshold = dir, "127.0.0.1:0", threshold
	a, err := app.New(t.Context(), settings, slog.New(slog.DiscardHandler), app.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	stopped := false
	stop = func() {
		if !stopped {
			stopped = true
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	}
	t.Cleanup(stop)
	return dial(t, a.URL(), client.Options{}), stop
}

func TestConsolidationContract(t *testing.T) {
	learningtest.Consolidation(t, func(t *testing.T, threshold float64) learningtest.ConsolidationWorld {
		c, _ := consolidating(t, t.TempDir(), threshold)
		return learningtest.ConsolidationWorld{Consolidation: clienttest.Consolidation{C: c}, Facts: clienttest.Facts{C: c}, Episodes: clienttest.Episodes{C: c}}
	})
}
