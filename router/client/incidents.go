package client

import (
	"context"
	"net/http"

	"skillrouter/learning/history"
)

// Incidents is history.Service over HTTP.
type Incidents struct{ c *Client }

var _ history.Service = Incidents{}

// Learn implements history.Service.
func (s Incidents) Learn(ctx context.Context, draft history.Draft) (history.Learned, error) {
	if draft.Steps == nil {
		draft.Steps = []history.Step{}
	}
	return call[history.Learned](ctx, s.c, http.MethodPost, at("/api/incidents/learn"), draft)
}

// List implements history.Service.
func (s Incidents) List(ctx context.Context, filter history.Filter) (history.Page, error) {
	return call[history.Page](ctx, s.c, http.MethodGet, at("/api/incidents").with(filter), nil)
}

// Brief implements history.Service.
func (s Incidents) Brief(ctx context.Context, query history.BriefQuery) (history.Brief, error) {
	return call[history.Brief](ctx, s.c, http.MethodGet, at("/api/incidents/brief").with(query), nil)
}

// Answer implements history.Service.
func (s Incidents) Answer(ctx context.Context, failure history.Failure) (history.Answer, error) {
	return call[history.Answer](ctx, s.c, http.MethodPost, at("/api/incidents/answer"), failure)
}

// Accept implements history.Service.
func (s Incidents) Accept(ctx context.Context, decision history.Decision) (history.Decided, error) {
	return call[history.Decided](ctx, s.c, http.MethodPost, at("/api/incidents/accept"), decision)
}

// Sources implements history.Service.
func (s Incidents) Sources(ctx context.Context, filter history.SourceFilter) (history.SourcePage, error) {
	return call[history.SourcePage](ctx, s.c, http.MethodGet, at("/api/incidents/sources").with(filter), nil)
}

// Forget implements history.Service.
func (s Incidents) Forget(ctx context.Context, project string) (history.Forgotten, error) {
	return call[history.Forgotten](ctx, s.c, http.MethodPost, at("/api/incidents/forget"), map[string]string{"project": project})
}
