package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"skillrouter/internal/principal"
	"skillrouter/learning/episode"
	"skillrouter/learning/knowledge"
	"skillrouter/router"
	"skillrouter/router/feed"
	"skillrouter/router/httpapi"
	"skillrouter/router/stream"
)

// wireFeed builds the feed of events and its transports.
func (a *App) wireFeed(ctx context.Context, p *parts) error {
	numbered, err := feed.New(ctx, feed.Ports{
		Journal: p.operations, Learning: p.memory, Operational: p.operations, Messages: p.operations.PostLog(), Now: a.now, Keep: a.config.Retention.Events,
	}, a.log)
	if err != nil {
		return fmt.Errorf("read the feed's journal: %w", err)
	}
	a.runs(ctx, "feed", numbered.Run)
	a.runs(ctx, "high water", func(ctx context.Context) error {
		return keepHighWater(ctx, a.config.Data, numbered, p.tokens, a.log)
	})
	fail := func(w http.ResponseWriter, _ *http.Request, err error) { httpapi.WriteProblem(w, err) }
	events := stream.NewFeed(numbered, fail, a.log)
	sockets := stream.NewSockets(numbered, fail, a.now, a.log)
	p.feed, p.events, p.socket = numbered, events, sockets
	p.timeline = a.timeline(p)
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

// timeline is what happened, told for people.
func (a *App) timeline(p *parts) *feed.Timeline {
	return feed.NewTimeline(feed.TimelinePorts{
		Learning: p.memory, Operational: p.operations, Messages: p.operations, Checks: p.guards, Tellings: p.tellings, Now: a.now,
		Titles: map[string]func(ctx context.Context, ids []string) (map[string]string, error){
			router.KindKnowledge: titles(p.memory.Knowledge, func(e knowledge.Knowledge) (id, title, project string) { return e.ID, e.Title, e.Project }),
			router.KindEpisode:   titles(p.memory.Episodes, func(e episode.Episode) (id, title, project string) { return e.ID, e.Title, e.Project }),
		},
	})
}

// titles are the titles of memories that the caller may know of, by id.
func titles[T any](read func(ctx context.Context, ids []string) ([]T, error), of func(T) (id, title, project string)) func(ctx context.Context, ids []string) (map[string]string, error) {
	return func(ctx context.Context, ids []string) (map[string]string, error) {
		found, err := read(ctx, ids)
		titles := map[string]string{}
		for _, one := range found {
			if id, title, project := of(one); principal.Of(ctx).Sees(project) {
				titles[id] = title
			}
		}
		return titles, err
	}
}
