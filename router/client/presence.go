package client

import (
	"context"
	"net/http"

	"skillrouter/comms"
	"skillrouter/comms/lease"
	"skillrouter/operational"
)

// Presence is comms.PresenceService over HTTP.
type Presence struct{ c *Client }

var _ comms.PresenceService = Presence{}

// Heartbeat implements comms.PresenceService.
func (p Presence) Heartbeat(ctx context.Context, beat comms.Heartbeat) (comms.HeartbeatAnswer, error) {
	return call[comms.HeartbeatAnswer](ctx, p.c, http.MethodPost, at("/heartbeat"), beat)
}

// Status implements comms.PresenceService.
func (p Presence) Status(ctx context.Context, report comms.StatusReport) (comms.StatusAnswer, error) {
	return call[comms.StatusAnswer](ctx, p.c, http.MethodPost, at("/status"), report)
}

// ShutdownCheck implements comms.PresenceService.
func (p Presence) ShutdownCheck(ctx context.Context, agentID string) (comms.ShutdownAnswer, error) {
	return call[comms.ShutdownAnswer](ctx, p.c, http.MethodGet, at("/shutdown-check").and("agent_id", agentID), nil)
}

// Agents implements comms.PresenceService.
func (p Presence) Agents(ctx context.Context, filter operational.AgentFilter) ([]operational.Agent, error) {
	return list[operational.Agent](ctx, p.c, at("/api/agents").with(filter), "agents")
}

// Agent implements comms.PresenceService.
func (p Presence) Agent(ctx context.Context, id string) (operational.Agent, error) {
	return call[operational.Agent](ctx, p.c, http.MethodGet, at("/api/agents/{agent_id}", id), nil)
}

// Mesh is comms.MeshService over HTTP.
type Mesh struct{ c *Client }

var _ comms.MeshService = Mesh{}

// Mesh implements comms.MeshService.
func (m Mesh) Mesh(ctx context.Context) (comms.Mesh, error) {
	return call[comms.Mesh](ctx, m.c, http.MethodGet, at("/api/interlock"), nil)
}

// Leases is lease.Service over HTTP.
type Leases struct{ c *Client }

var _ lease.Service = Leases{}

// Take implements lease.Service.
func (l Leases) Take(ctx context.Context, draft operational.LeaseDraft) (operational.Lease, error) {
	return call[operational.Lease](ctx, l.c, http.MethodPost, at("/api/leases"), draft)
}

// Leases implements lease.Service.
func (l Leases) Leases(ctx context.Context, filter operational.LeaseFilter) ([]operational.Lease, error) {
	return list[operational.Lease](ctx, l.c, at("/api/leases").with(filter), "leases")
}

// Release implements lease.Service.
func (l Leases) Release(ctx context.Context, release operational.LeaseRelease) ([]operational.Lease, error) {
	answer, err := call[struct {
		Leases []operational.Lease `json:"leases"`
	}](ctx, l.c, http.MethodPost, at("/api/leases/release"), release)
	return answer.Leases, err
}

// Ask implements lease.Service.
func (l Leases) Ask(ctx context.Context, question operational.LeaseQuestion) (comms.Sent, error) {
	return call[comms.Sent](ctx, l.c, http.MethodPost, at("/api/leases/ask"), question)
}

// Check implements lease.Service.
func (l Leases) Check(ctx context.Context, edits lease.Changes) (lease.Judged, error) {
	return call[lease.Judged](ctx, l.c, http.MethodPost, at("/api/leases/check"), edits)
}

// Late implements lease.Service.
func (l Leases) Late(ctx context.Context, edits lease.LateChanges) (lease.Judged, error) {
	return call[lease.Judged](ctx, l.c, http.MethodPost, at("/api/leases/late"), edits)
}
