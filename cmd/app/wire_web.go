package app

import (
	"context"
	"time"

	"skillrouter/router/httpapi"
	"skillrouter/router/web"
)

// wireWeb builds the dashboard, on all that there is to show: it comes last.
func (a *App) wireWeb(p *parts) error {
	options := web.Options{Status: httpapi.Status, Log: a.log, Now: a.now}
	if p.events != nil {
		options.Events = "/events"
	}
	var err error
	p.web, err = web.New(web.Services{
		Auth: p.tokens, Presence: p.presence, Mailbox: p.mailbox, Tasks: p.tasks, Reminders: p.reminders, Escalations: p.border.escalations(),
		Sessions: p.sessions, Feed: p.feed, Router: p.queries, Introspection: p.introspection,
		Knowledge: p.knowledge, Episodes: p.episodes, Experiences: p.experiences, Lessons: p.lessons, Patterns: p.patterns,
		Guard: p.guards, Facts: p.facts, Procedures: p.procedures, Consolidation: p.consolidation,
		Memory: p.border.memory, Unread: p.presence, Log: p.mailbox, Health: a.webHealth, Doctor: a.webDoctor,
	}, options)
	return err
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
