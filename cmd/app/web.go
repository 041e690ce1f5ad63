package app

import (
	"context"
	"slices"

	"skillrouter/router/httpapi"
	"skillrouter/router/web"
)

// wireWeb builds the dashboard, on all that there is to show: it comes last.
func (a *App) wireWeb(ctx context.Context, p *parts) {
	options := web.Options{Status: httpapi.Status, Private: httpapi.Private, Log: a.log, Now: a.now, Demo: a.options.demo != nil}
	if a.options.demo == nil {
		a.options.demo = a.openDemo(ctx)
	}
	if p.events != nil {
		options.Events = "/events"
	}
	p.web = web.New(web.Services{
		Auth: p.tokens, Persons: p.persons, Presence: p.presence, Mailbox: p.mailbox, Tasks: p.tasks, Reminders: p.reminders, Escalations: p.crossing.escalations(),
		Sessions: p.sessions, Timeline: p.timeline, Kinds: p.kinds,
		Knowledge: p.knowledge, Lessons: p.lessons, Patterns: p.patterns,
		Guard: p.guards, Consolidation: p.consolidation,
		Memory: p.crossing.memory, Health: a.health, Hooks: a.checkHooks,
		Search: p.search, Demo: a.options.demo, Leases: p.leases,
		Projects: func(ctx context.Context, limit int) ([]string, error) { return projectsOf(ctx, p, limit) },
		Verdicts: p.verdicts, Incidents: p.incidents, Tellings: p.tellings, Value: p.value, Decisions: p.decisions,
	}, options)
	a.services.web = p.web
}

// projectsOf are the projects of both databases.
func projectsOf(ctx context.Context, p *parts, limit int) ([]string, error) {
	names, err := p.operations.Names(ctx, limit)
	if err != nil {
		return nil, err
	}
	more, err := p.memory.Projects(ctx, limit)
	all := slices.Compact(slices.Sorted(slices.Values(append(names.Projects, more...))))
	return all[:min(limit, len(all))], err
}
