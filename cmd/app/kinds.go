package app

import (
	"context"
	"fmt"
	"slices"

	"skillrouter/internal/operation"
	"skillrouter/learning/procedure"
	"skillrouter/operational"
	"skillrouter/router"
	"skillrouter/router/contexts"
	"skillrouter/router/httpapi"
	"skillrouter/router/kind"
	"skillrouter/router/mcpserver"
	"skillrouter/router/search"
)

// wired is a kind of memory and the service that keeps its rows.
type wired[Service comparable] struct {
	service Service
	memory  kind.Memory
}

// of takes what makes a kind in router/kind.
func of[Service comparable](service Service, memory kind.Memory) wired[Service] {
	return wired[Service]{service, memory}
}

// join puts the kind to work: it opens the index of its rows and keeps it, offers the kind to searches, contexts, exports
// and counts, and adds its routes and its tools.
func (k wired[Service]) join(a *App, operations operation.List, tools func(Service) mcpserver.Tools) func(context.Context, *parts) error {
	return func(ctx context.Context, p *parts) error {
		index := k.memory.Shelf
		if err := index.Load(ctx); err != nil {
			return fmt.Errorf("open the index of %s: %w", k.memory.Plural, err)
		}
		a.life.run(ctx, k.memory.Plural, index.RunIndex)
		p.kinds = append(p.kinds, k.memory)
		p.indexes = append(p.indexes, namedIndex{k.memory.Plural, index.IndexState})
		p.routes = append(p.routes, httpapi.Offer(operations, k.service))
		p.tools = append(p.tools, tools(k.service))
		return nil
	}
}

// joinKinds puts those kinds to work that need no more than their rows and what is wired before.
func (a *App) joinKinds(ctx context.Context, p *parts) error {
	for _, join := range []func(context.Context, *parts) error{
		of(a.procedures(p)).join(a, procedure.Operations, mcpserver.Procedures),
	} {
		if err := join(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// wireKinds gathers the kinds of memory in the order of the registry, each with the service that keeps it.
func (a *App) wireKinds(ctx context.Context, p *parts) error {
	words := search.NewWords(p.operations, p.operations.SignalLog(), a.log)
	a.life.run(ctx, "words", words.Run)
	p.kinds = slices.Concat(p.kinds, []kind.Memory{
		kind.Lessons(p.lessons, p.memory), kind.Patterns(p.patterns, p.memory), kind.Entries(p.knowledge, p.memory),
		kind.Facts(p.facts, p.memory, a.now), kind.Episodes(p.episodes, p.experiences, p.memory), kind.Reminders(p.reminders, p.operations), kind.Sessions(p.operations),
	}, words.Memories())
	place := map[string]int{}
	for i, k := range kind.All() {
		place[k.Name] = i
	}
	slices.SortStableFunc(p.kinds, func(a, b kind.Memory) int { return place[a.Name] - place[b.Name] })
	return nil
}

// wireSearch builds the search over all memories, and lets each tell what the others have.
func (a *App) wireSearch(_ context.Context, p *parts) error {
	p.search = search.NewSearcher(p.kinds, search.SearcherOptions{Now: a.now, Misses: p.verdicts})
	for _, memory := range p.kinds {
		if memory.Shelf != nil {
			memory.Shelf.TellElsewhere(memory.Name, p.search)
		}
	}
	return nil
}

// wireContext builds the context builder on whatever stores there are.
func (a *App) wireContext(ctx context.Context, p *parts) error {
	a.life.run(ctx, "facts index", p.facts.RunIndex)
	sources := contexts.Sources{
		Guards: p.guards, Lessons: p.lessons, Knowledge: p.knowledge, Facts: p.facts, Kinds: p.kinds,
		Episodes: p.episodes, Tasks: p.tasks, Sessions: p.sessions, Incidents: p.incidents,
		Words: []router.Frequencies{p.knowledge, p.lessons, p.episodes, p.facts},
	}
	tell := func(ctx context.Context, told operational.Telling) {
		told.Agent = speaker(ctx, told.Agent)
		p.tellings.Note(told)
	}
	p.context = contexts.NewBuilder(sources, contexts.Options{Now: a.now, Log: a.log, VouchedOnly: a.config.TellVouched, Tell: tell})
	return nil
}
