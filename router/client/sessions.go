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
	return call[router.SessionStarted](ctx, s.c, http.MethodPost, "/api/sessions", nil, draft)
}

// End implements router.SessionService.
func (s Sessions) End(ctx context.Context, id string, end router.SessionEnd) (router.SessionEnded, error) {
	if id == "" {
		id = router.CurrentSession
	}
	path, err := segment("id", id)
	if err != nil {
		return router.SessionEnded{}, err
	}
	return call[router.SessionEnded](ctx, s.c, http.MethodPost, "/api/sessions/"+path+"/end", nil, end)
}

// Session implements router.SessionService.
func (s Sessions) Session(ctx context.Context, id string) (operational.Session, error) {
	path, err := segment("id", id)
	if err != nil {
		return operational.Session{}, err
	}
	return call[operational.Session](ctx, s.c, http.MethodGet, "/api/sessions/"+path, nil, nil)
}

// List implements router.SessionService.
func (s Sessions) List(ctx context.Context, filter operational.SessionFilter) ([]operational.Session, error) {
	type listing struct {
		Sessions []operational.Session `json:"sessions"`
	}
	found, err := call[listing](ctx, s.c, http.MethodGet, "/api/sessions", values(
		"agent_id", filter.AgentID, "persona", filter.Persona, "project", filter.Project, "status", string(filter.Status),
		"successor", filter.Successor, "waiting", filter.Waiting, "limit", filter.Limit,
	), nil)
	return found.Sessions, err
}

// Handover implements router.SessionService.
func (s Sessions) Handover(ctx context.Context, agentID string) (operational.Session, error) {
	return call[operational.Session](ctx, s.c, http.MethodGet, "/api/sessions/handover", values("agent_id", agentID), nil)
}
