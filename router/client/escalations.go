package client

import (
	"context"
	"net/http"

	"skillrouter/learning/lesson"
	"skillrouter/operational"
	"skillrouter/router"
)

// Escalations is operational.EscalationService over HTTP.
type Escalations struct{ c *Client }

var _ operational.EscalationService = Escalations{}

// Escalation implements operational.EscalationService.
func (e Escalations) Escalation(ctx context.Context, id string) (operational.Escalation, error) {
	return call[operational.Escalation](ctx, e.c, http.MethodGet, at("/escalations/{id}", id), nil)
}

// List implements operational.EscalationService.
func (e Escalations) List(ctx context.Context, filter operational.EscalationFilter) ([]operational.Escalation, error) {
	return list[operational.Escalation](ctx, e.c, at("/escalations").with(filter), "escalations")
}

// Review implements operational.EscalationService.
func (e Escalations) Review(ctx context.Context, id string, verdict operational.EscalationVerdict) (operational.Escalation, error) {
	return e.settle(ctx, id, "review", verdict)
}

// Resolve implements operational.EscalationService.
func (e Escalations) Resolve(ctx context.Context, id string, verdict operational.EscalationVerdict) (operational.Escalation, error) {
	return e.settle(ctx, id, "resolve", verdict)
}

// Dismiss implements operational.EscalationService.
func (e Escalations) Dismiss(ctx context.Context, id string, verdict operational.EscalationVerdict) (operational.Escalation, error) {
	return e.settle(ctx, id, "dismiss", verdict)
}

func (e Escalations) settle(ctx context.Context, id, verb string, verdict operational.EscalationVerdict) (operational.Escalation, error) {
	return call[operational.Escalation](ctx, e.c, http.MethodPost, at("/escalations/{id}/"+verb, id), verdict)
}

// Memory is router.MemoryService over HTTP.
type Memory struct{ c *Client }

var _ router.MemoryService = Memory{}

// Memory implements router.MemoryService.
func (m Memory) Memory(ctx context.Context, agent string) (router.Memory, error) {
	return call[router.Memory](ctx, m.c, http.MethodGet, at("/agent/{agent}/memory", agent), nil)
}

// SessionContext implements router.MemoryService.
func (m Memory) SessionContext(ctx context.Context, query router.SessionQuery) (router.SessionContext, error) {
	return call[router.SessionContext](ctx, m.c, http.MethodGet, at("/claude-code/context").with(query), nil)
}

// Figures implements router.MemoryService.
func (m Memory) Figures(ctx context.Context) (lesson.Figures, error) {
	return call[lesson.Figures](ctx, m.c, http.MethodGet, at("/lessons/stats"), nil)
}
