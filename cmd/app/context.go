package app

import (
	"context"

	"skillrouter/operational"
	"skillrouter/router"
	"skillrouter/router/contexts"
)

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
