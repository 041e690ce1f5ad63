package client

import (
	"context"
	"net/http"

	"skillrouter/operational"
	"skillrouter/router"
)

// Sessions is router.SessionService over HTTP.
type Sessions struct{ c *Client }

var _ router.SessionService = Sessions{}

// Start implements router.SessionService.
func (s Sessions) Start(ctx context.Context, draft router.SessionDraft) (router.SessionStarted, error) {
	return call[router.SessionStarted](ctx, s.c, http.MethodPost, at("/api/sessions"), draft)
}

// End implements router.SessionService.
func (s Sessions) End(ctx context.Context, id string, end router.SessionEnd) (router.SessionEnded, error) {
	if id == "" {
		id = router.CurrentSession
	}
	return call[router.SessionEnded](ctx, s.c, http.MethodPost, at("/api/sessions/{id}/end", id), end)
}

// Session implements router.SessionService.
func (s Sessions) Session(ctx context.Context, id string) (operational.Session, error) {
	return call[operational.Session](ctx, s.c, http.MethodGet, at("/api/sessions/{id}", id), nil)
}

// List implements router.SessionService.
func (s Sessions) List(ctx context.Context, filter operational.SessionFilter) ([]operational.Session, error) {
	return list[operational.Session](ctx, s.c, at("/api/sessions").with(filter), "sessions")
}

// Handover implements router.SessionService.
func (s Sessions) Handover(ctx context.Context, agentID string) (operational.Session, error) {
	return call[operational.Session](ctx, s.c, http.MethodGet, at("/api/sessions/handover").and("agent_id", agentID), nil)
}
