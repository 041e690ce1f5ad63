package client

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"skillrouter/learning"
	"skillrouter/operational"
	"skillrouter/router"
)

// Escalations is operational.EscalationService over HTTP.
type Escalations struct{ c *Client }

var _ operational.EscalationService = Escalations{}

// Escalation implements operational.EscalationService.
func (e Escalations) Escalation(ctx context.Context, id string) (operational.Escalation, error) {
	path, err := segment("id", id)
	if err != nil {
		return operational.Escalation{}, err
	}
	return call[operational.Escalation](ctx, e.c, http.MethodGet, "/escalations/"+path, nil, nil)
}

// List implements operational.EscalationService.
func (e Escalations) List(ctx context.Context, filter operational.EscalationFilter) ([]operational.Escalation, error) {
	type listing struct {
		Escalations []operational.Escalation `json:"escalations"`
	}
	found, err := call[listing](ctx, e.c, http.MethodGet, "/escalations", values(
		"status", list(filter.Status), "to", filter.To, "lesson_id", filter.LessonID, "limit", filter.Limit,
	), nil)
	return found.Escalations, err
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
	path, err := segment("id", id)
	if err != nil {
		return operational.Escalation{}, err
	}
	return call[operational.Escalation](ctx, e.c, http.MethodPost, "/escalations/"+path+"/"+verb, nil, verdict)
}

// Memory is router.MemoryService over HTTP.
type Memory struct{ c *Client }

var _ router.MemoryService = Memory{}

// Memory implements router.MemoryService.
func (m Memory) Memory(ctx context.Context, agent string) (router.Memory, error) {
	path, err := segment("agent", agent)
	if err != nil {
		return router.Memory{}, err
	}
	return call[router.Memory](ctx, m.c, http.MethodGet, "/agent/"+path+"/memory", nil, nil)
}

// SessionContext implements router.MemoryService.
func (m Memory) SessionContext(ctx context.Context, query router.SessionQuery) (router.SessionContext, error) {
	q := url.Values{}
	if query.Agent != "" {
		q.Set("agent", query.Agent)
	}
	if len(query.Domains) > 0 {
		q.Set("domains", strings.Join(query.Domains, ","))
	}
	return call[router.SessionContext](ctx, m.c, http.MethodGet, "/claude-code/context", q, nil)
}

// Figures implements router.MemoryService.
func (m Memory) Figures(ctx context.Context) (learning.LessonFigures, error) {
	return call[learning.LessonFigures](ctx, m.c, http.MethodGet, "/lessons/stats", nil, nil)
}
