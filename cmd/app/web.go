package app

import (
	"context"
	"runtime/metrics"
	"time"

	"skillrouter/router/decision"
	"skillrouter/router/httpapi"
	"skillrouter/router/web"
)

// wireWeb builds the dashboard, on all that there is to show: it comes last.
func (a *App) wireWeb(p *parts) {
	p.decisions = decision.New(decision.Sources{
		Guard: p.guards, Escalations: p.crossing.escalations(), Incidents: p.incidents, Knowledge: p.knowledge, Consolidation: p.consolidation, Agents: p.presence, Tasks: p.tasks,
	})
	options := web.Options{Status: httpapi.Status, Log: a.log, Now: a.now}
	if p.events != nil {
		options.Events = "/events"
	}
	p.web = web.New(web.Services{
		Auth: p.tokens, Presence: p.presence, Mailbox: p.mailbox, Tasks: p.tasks, Reminders: p.reminders, Escalations: p.crossing.escalations(),
		Sessions: p.sessions, Feed: p.feed, Timeline: p.timeline, Kinds: p.kinds, Router: p.queries, Introspection: p.introspection,
		Knowledge: p.knowledge, Episodes: p.episodes, Experiences: p.experiences, Lessons: p.lessons, Patterns: p.patterns,
		Guard: p.guards, Facts: p.facts, Procedures: p.procedures, Consolidation: p.consolidation,
		Memory: p.crossing.memory, Unread: p.presence, Log: p.mailbox, Health: a.webHealth, Doctor: a.webDoctor, Hooks: a.webHooks,
		Search: p.search,
		Gaps:   p.gaps, Incidents: p.incidents, Tellings: p.tellings, Transfer: p.transfer, Value: p.value, Figures: p.figures, Decisions: p.decisions, Embeddings: p.vectors, Process: a.process,
	}, options)
}

// webHealth is what the dashboard shows of GET /health.
func (a *App) webHealth(ctx context.Context) web.Health {
	health := a.health(ctx)
	return web.Health{
		Status: health.Status, Version: health.Version, Uptime: time.Duration(health.UptimeMS) * time.Millisecond,
		Stats: health.Stats, Interlock: health.Interlock,
	}
}

// webDoctor is what the dashboard shows of GET /api/doctor.
func (a *App) webDoctor(ctx context.Context) []web.Check {
	var checks []web.Check
	for _, check := range a.doctor(ctx) {
		checks = append(checks, web.Check(check))
	}
	return checks
}

// webHooks is what the dashboard shows of agents' hooks.
func (a *App) webHooks(ctx context.Context) []web.Check {
	var checks []web.Check
	for _, check := range a.checkHooks(ctx) {
		checks = append(checks, web.Check(check))
	}
	return checks
}

// process is what the process takes, as the Go runtime counts it.
func (a *App) process() web.Process {
	samples := []metrics.Sample{
		{Name: "/memory/classes/total:bytes"},
		{Name: "/memory/classes/heap/released:bytes"},
		{Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/sched/goroutines:goroutines"},
	}
	metrics.Read(samples)
	value := func(i int) uint64 {
		if samples[i].Value.Kind() != metrics.KindUint64 {
			return 0 // a later runtime may count it otherwise
		}
		return samples[i].Value.Uint64()
	}
	return web.Process{Memory: value(0) - min(value(0), value(1)), Heap: value(2), Goroutines: int(value(3))}
}
