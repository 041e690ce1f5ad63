package app_test

import (
	"context"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/cmd/app"
	"github.com/skillrouter/skillrouter/cmd/config"
	"github.com/skillrouter/skillrouter/internal/database/databasetest"
	"github.com/skillrouter/skillrouter/internal/errs"
)

func settings(t *testing.T) config.Config {
	cfg := config.Default()
	cfg.Listen = "127.0.0.1:0"
	cfg.Data = t.TempDir()
	if databasetest.OnPostgres() {
		cfg.Database = databasetest.Address(t, cfg.Data)
	}
	return cfg
}

func TestRunAnswersAndStops(t *testing.T) {
	a, err := app.New(t.Context(), settings(t), slog.New(slog.DiscardHandler), app.Options{Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- a.Run(ctx) }()
	response, err := http.Get(a.URL() + "/health")
	if err != nil || response.StatusCode != 200 {
		t.Fatalf("%v %v", response, err)
	}
	response.Body.Close()
	cancel()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(5 * time.Second):
		t.Fatal("it does not stop")
	}
}

func TestSecondProcessIsToldWhoHoldsTheFolder(t *testing.T) {
	cfg := settings(t)
	a, err := app.New(t.Context(), cfg, slog.New(slog.DiscardHandler), app.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = app.New(t.Context(), cfg, slog.New(slog.DiscardHandler), app.Options{})
	if errs.CodeOf(err) != errs.Conflict {
		t.Errorf("a second one on the same folder: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := a.Run(ctx); err != nil {
		t.Error(err)
	}
	b, err := app.New(t.Context(), cfg, slog.New(slog.DiscardHandler), app.Options{})
	if err != nil {
		t.Fatalf("after the first has gone: %v", err)
	}
	if err := b.Run(ctx); err != nil {
		t.Error(err)
	}
}

// stop ends an App that was made and never run, when the test ends.
func stop(t *testing.T, a *app.App) {
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
		cancel()
		if err := a.Run(ctx); err != nil {
			t.Error(err)
		}
	})
}
