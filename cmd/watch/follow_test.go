package watch_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"skillrouter/cmd/app"
	"skillrouter/cmd/config"
	"skillrouter/cmd/locate"
	"skillrouter/cmd/watch"
	"skillrouter/comms"
	"skillrouter/router/client"
)

// TestFollow watches a router that ends and comes back: what happens is told, and so is that it was away.
func TestFollow(t *testing.T) {
	settings := config.Default()
	settings.Data, settings.Listen = t.TempDir(), "127.0.0.1:0"
	serve := func() (address string, stop func()) {
		a, err := app.New(t.Context(), settings, slog.New(slog.DiscardHandler), app.Options{})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- a.Run(ctx) }()
		return a.URL(), func() { cancel(); <-ended }
	}
	address, stop := serve()
	settings.Listen = strings.TrimPrefix(address, "http://")
	owner, err := locate.ReadOwnerToken(settings.Data)
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(address, client.Options{Token: owner})
	if err != nil {
		t.Fatal(err)
	}
	beat := func(agent string) {
		t.Helper()
		if _, err := client.Send(t.Context(), c, comms.PresenceService.Heartbeat, comms.Heartbeat{AgentID: agent}); err != nil {
			t.Fatal(err)
		}
	}
	messages := make(chan tea.Msg, 100)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- watch.Follow(ctx, c, "", func(msg tea.Msg) { messages <- msg }) }()
	told := map[string]int{}
	until := func(what string) {
		t.Helper()
		limit := time.After(20 * time.Second)
		for told[what] == 0 {
			select {
			case msg := <-messages:
				switch msg := msg.(type) {
				case watch.Up:
					told["up"]++
				case watch.Down:
					told["down"]++
				case watch.Happened:
					for _, e := range msg {
						told[e.Agent]++
					}
				}
			case <-limit:
				t.Fatalf("waited too long for %s: %v", what, told)
			}
		}
	}
	until("up")
	beat("late")
	until("late")
	stop()
	until("down")
	delete(told, "up")
	_, stop = serve()
	defer stop()
	until("up")
	beat("later")
	until("later")
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	for _, agent := range []string{"late", "later"} {
		if told[agent] == 0 {
			t.Errorf("nothing was told of %s: %v", agent, told)
		}
	}
}

// TestFollowRefused ends with what no further attempt mends.
func TestFollowRefused(t *testing.T) {
	settings := config.Default()
	settings.Data, settings.Listen = t.TempDir(), "127.0.0.1:0"
	a, err := app.New(t.Context(), settings, slog.New(slog.DiscardHandler), app.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	defer func() { cancel(); <-ended }()
	c, err := client.New(a.URL(), client.Options{Token: "nobody's"})
	if err != nil {
		t.Fatal(err)
	}
	if err := watch.Follow(t.Context(), c, "", func(tea.Msg) {}); err == nil {
		t.Error("a token that is nobody's is not refused")
	}
}
