package client

import (
	"context"
	"net/http"

	"skillrouter/learning/incident"
)

// Incidents is incident.Service over HTTP.
type Incidents struct{ c *Client }

var _ incident.Service = Incidents{}

// Learn implements incident.Service.
func (s Incidents) Learn(ctx context.Context, draft incident.Draft) (incident.Learned, error) {
	if draft.Steps == nil {
		draft.Steps = []incident.Step{}
	}
	return call[incident.Learned](ctx, s.c, http.MethodPost, at("/api/incidents/learn"), draft)
}

// List implements incident.Service.
func (s Incidents) List(ctx context.Context, filter incident.Filter) (incident.Page, error) {
	return call[incident.Page](ctx, s.c, http.MethodGet, at("/api/incidents").with(filter), nil)
}

// Brief implements incident.Service.
func (s Incidents) Brief(ctx context.Context, query incident.BriefQuery) (incident.Brief, error) {
	return call[incident.Brief](ctx, s.c, http.MethodGet, at("/api/incidents/brief").with(query), nil)
}

// Answer implements incident.Service.
func (s Incidents) Answer(ctx context.Context, failure incident.Failure) (incident.Answer, error) {
	return call[incident.Answer](ctx, s.c, http.MethodPost, at("/api/incidents/answer"), failure)
}

// Accept implements incident.Service.
func (s Incidents) Accept(ctx context.Context, decision incident.Decision) (incident.Decided, error) {
	return call[incident.Decided](ctx, s.c, http.MethodPost, at("/api/incidents/accept"), decision)
}

// Sources implements incident.Service.
func (s Incidents) Sources(ctx context.Context, filter incident.SourceFilter) (incident.SourcePage, error) {
	return call[incident.SourcePage](ctx, s.c, http.MethodGet, at("/api/incidents/sources").with(filter), nil)
}

// Forget implements incident.Service.
func (s Incidents) Forget(ctx context.Context, project string) (incident.Forgotten, error) {
	return call[incident.Forgotten](ctx, s.c, http.MethodPost, at("/api/incidents/forget"), map[string]string{"project": project})
}
