package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"skillrouter/router/feed"
	"skillrouter/router/httpapi"
	"skillrouter/router/stream"
)

// wireFeed builds the feed of events and its transports.
func (a *App) wireFeed(ctx context.Context, p *parts) error {
	feed, err := feed.New(ctx, feed.Ports{
		Journal: p.operations, Learning: p.memory, Operational: p.operations, Messages: p.operations.PostLog(),
	}, a.log)
	if err != nil {
		return fmt.Errorf("read the feed's journal: %w", err)
	}
	a.life.run(ctx, "feed", feed.Run)
	a.life.run(ctx, "high water", func(ctx context.Context) error {
		return keepHighWater(ctx, a.config.Data, feed, p.tokens, a.log)
	})
	fail := func(w http.ResponseWriter, _ *http.Request, err error) { httpapi.WriteProblem(w, err) }
	events := stream.NewFeed(feed, fail, a.log)
	sockets := stream.NewSockets(feed, fail, a.now, a.log)
	p.feed, p.events, p.socket = feed, events, sockets
	a.endsStreams(events.Shutdown)
	a.endsStreams(sockets.Shutdown)
	return nil
}

// endsStreams adds to what ends the streams when the App stops.
func (a *App) endsStreams(end func(ctx context.Context) error) {
	before := a.services.endStreams
	a.services.endStreams = func(ctx context.Context) error {
		ended := make(chan error, 1)
		go func() { ended <- end(ctx) }() // all have the same time
		return errors.Join(before(ctx), <-ended)
	}
}
