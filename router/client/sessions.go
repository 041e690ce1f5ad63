package client

import (
	"cmp"
	"context"
	"net/http"

	"skillrouter/operational"
	"skillrouter/router/session"
)

// Sessions is session.Service over HTTP.
type Sessions struct{ c *Client }

var _ session.Service = Sessions{}

// Start implements session.Service.
func (s Sessions) Start(ctx context.Context, draft session.Draft) (session.Started, error) {
	return call[session.Started](ctx, s.c, http.MethodPost, at("/api/sessions"), draft)
}

// End implements session.Service.
func (s Sessions) End(ctx context.Context, id string, end session.End) (session.Ended, error) {
	return call[session.Ended](ctx, s.c, http.MethodPost, at("/api/sessions/{id}/end", cmp.Or(id, session.Current)), end)
}

// Session implements session.Service.
func (s Sessions) Session(ctx context.Context, id string) (operational.Session, error) {
	return call[operational.Session](ctx, s.c, http.MethodGet, at("/api/sessions/{id}", id), nil)
}

// List implements session.Service.
func (s Sessions) List(ctx context.Context, filter operational.SessionFilter) ([]operational.Session, error) {
	return list[operational.Session](ctx, s.c, at("/api/sessions").with(filter), "sessions")
}

// Handover implements session.Service.
func (s Sessions) Handover(ctx context.Context, agentID string) (operational.Session, error) {
	return call[operational.Session](ctx, s.c, http.MethodGet, at("/api/sessions/handover").and("agent_id", agentID), nil)
}
