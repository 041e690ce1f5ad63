package client

import (
	"context"
	"net/http"

	"skillrouter/comms"
	"skillrouter/operational"
)

// Presence is comms.PresenceService over HTTP.
type Presence struct{ c *Client }

var _ comms.PresenceService = Presence{}

// Heartbeat implements comms.PresenceService.
func (p Presence) Heartbeat(ctx context.Context, beat comms.Heartbeat) (comms.HeartbeatAnswer, error) {
	return call[comms.HeartbeatAnswer](ctx, p.c, http.MethodPost, "/heartbeat", nil, beat)
}

// Status implements comms.PresenceService.
func (p Presence) Status(ctx context.Context, report comms.StatusReport) (comms.StatusAnswer, error) {
	return call[comms.StatusAnswer](ctx, p.c, http.MethodPost, "/status", nil, report)
}

// ShutdownCheck implements comms.PresenceService.
func (p Presence) ShutdownCheck(ctx context.Context, agentID string) (comms.ShutdownAnswer, error) {
	return call[comms.ShutdownAnswer](ctx, p.c, http.MethodGet, "/shutdown-check", values("agent_id", agentID), nil)
}

// Agents implements comms.PresenceService.
func (p Presence) Agents(ctx context.Context, filter operational.AgentFilter) ([]operational.Agent, error) {
	type listing struct {
		Agents []operational.Agent `json:"agents"`
	}
	list, err := call[listing](ctx, p.c, http.MethodGet, "/api/agents", values(
		"state", filter.State, "status", filter.Status, "project", filter.Project, "role", filter.Role, "task", filter.Task, "skip", filter.Skip, "limit", filter.Limit,
	), nil)
	return list.Agents, err
}

// Agent implements comms.PresenceService.
func (p Presence) Agent(ctx context.Context, id string) (operational.Agent, error) {
	path, err := segment("agent_id", id)
	if err != nil {
		return operational.Agent{}, err
	}
	return call[operational.Agent](ctx, p.c, http.MethodGet, "/api/agents/"+path, nil, nil)
}
