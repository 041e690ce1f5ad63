package app

import (
	"context"
	"slices"

	"skillrouter/router/kind"
	"skillrouter/router/search"
)

// wireKinds gathers the kinds of memory, each with the service that keeps it.
func (a *App) wireKinds(ctx context.Context, p *parts) error {
	words := search.NewWords(p.operations, p.operations.SignalLog(), a.log)
	a.life.run(ctx, "words", words.Run)
	p.kinds = slices.Concat(p.kinds, []kind.Memory{
		kind.Lessons(p.lessons, p.memory), kind.Patterns(p.patterns, p.memory), kind.Entries(p.knowledge, p.memory), kind.Procedures(p.procedures, p.memory),
		kind.Facts(p.facts, p.memory, a.now), kind.Episodes(p.episodes, p.experiences, p.memory), kind.Reminders(p.reminders, p.operations), kind.Sessions(p.operations),
	}, words.Memories())
	return nil
}

// wireSearch builds the search over all memories, and lets each tell what the others have.
func (a *App) wireSearch(_ context.Context, p *parts) error {
	p.search = search.NewSearcher(p.kinds, search.SearcherOptions{Now: a.now, Misses: p.gaps})
	for _, memory := range p.kinds {
		if memory.Shelf != nil {
			memory.Shelf.TellElsewhere(memory.Name, p.search)
		}
	}
	return nil
}
