package app

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/skillrouter/skillrouter/internal/database"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning/episode"
	"github.com/skillrouter/skillrouter/learning/knowledge"
	"github.com/skillrouter/skillrouter/router"
	"github.com/skillrouter/skillrouter/router/feed"
	"github.com/skillrouter/skillrouter/router/httpapi"
	"github.com/skillrouter/skillrouter/router/kind"
	"github.com/skillrouter/skillrouter/router/stream"
	"github.com/skillrouter/skillrouter/router/web"
)

// wireWeb builds the dashboard, on all that there is to show: it comes last.
func (a *App) wireWeb(ctx context.Context, p *parts) {
	options := web.Options{Status: httpapi.Status, Private: httpapi.Private, Log: a.log, Now: a.now}
	if p.events != nil {
		options.Events = "/events"
	}
	p.web = web.New(web.Services{
		Auth: p.tokens, Persons: p.persons, Presence: p.presence, Mailbox: p.mailbox, Tasks: p.tasks, Reminders: p.reminders, Escalations: p.crossing.escalations(),
		Sessions: p.sessions, Timeline: p.timeline, Kinds: p.kinds,
		Knowledge: p.knowledge, Lessons: p.lessons, Patterns: p.patterns,
		Guard: p.guards, Consolidation: p.consolidation,
		Memory: p.crossing.memory, Health: a.health, Hooks: a.checkHooks,
		Search: p.search, Leases: p.leases,
		Projects: func(ctx context.Context, limit int) ([]string, error) { return projectsOf(ctx, p, limit) },
		Verdicts: p.verdicts, Incidents: p.incidents, Tellings: p.tellings, Value: p.value, Decisions: p.decisions,
	}, options)
}

// projectsOf are the projects of both databases.
func projectsOf(ctx context.Context, p *parts, limit int) ([]string, error) {
	names, err := p.operations.Projects(ctx, limit)
	if err != nil {
		return nil, err
	}
	more, err := p.memory.Projects(ctx, limit)
	all := slices.Compact(slices.Sorted(slices.Values(append(names, more...))))
	return all[:min(limit, len(all))], err
}

// introspection builds what tells of all memories, once they are all there.
func (a *App) introspection(p *parts) *router.Introspection {
	var held []router.HeldMemory
	for _, memory := range kind.Placed(p.kinds, func(m kind.Memory) int { return m.Counted }) {
		held = append(held, memory.Held)
	}
	ids := map[string]router.FindIDs{}
	for _, database := range []map[string]func(ctx context.Context, part string, most int) ([]string, error){p.memory.FindIDs(), p.operations.FindIDs()} {
		for name, find := range database {
			ids[name] = find
		}
	}
	return router.NewIntrospection(held, ids, a.databaseSizes)
}

// databaseSizes is how large the databases are on the disk.
func (a *App) databaseSizes(ctx context.Context) ([]router.DatabaseSize, error) {
	var sizes []router.DatabaseSize
	for _, db := range []*database.DB{a.learning, a.operational} {
		size := router.DatabaseSize{Name: db.Name + ".db"}
		var err error
		if size.Bytes, err = db.Size(ctx); err != nil {
			return nil, err
		}
		sizes = append(sizes, size)
	}
	return sizes, nil
}

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
	a.streams = append(a.streams, events.Shutdown, sockets.Shutdown)
	return nil
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
