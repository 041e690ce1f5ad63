package client

import (
	"context"
	"net/http"

	"skillrouter/learning"
)

// Consolidation is learning.ConsolidationService over HTTP.
type Consolidation struct{ c *Client }

var _ learning.ConsolidationService = Consolidation{}

// Consolidate implements learning.ConsolidationService. The client's time limit
// must leave room for a model's answer.
func (s Consolidation) Consolidate(ctx context.Context, transcript learning.TranscriptDraft) (learning.Consolidated, error) {
	return call[learning.Consolidated](ctx, s.c, http.MethodPost, "/api/consolidations", nil, transcript)
}

// Proposals implements learning.ConsolidationService.
func (s Consolidation) Proposals(ctx context.Context, filter learning.ProposalFilter) ([]learning.Proposal, error) {
	type listing struct {
		Proposals []learning.Proposal `json:"proposals"`
	}
	found, err := call[listing](ctx, s.c, http.MethodGet, "/api/proposals", values(
		"persona", filter.Persona, "transcript_id", filter.TranscriptID, "session_id", filter.SessionID,
		"kind", filter.Kind, "status", filter.Status, "limit", filter.Limit,
	), nil)
	return found.Proposals, err
}

// Proposal implements learning.ConsolidationService.
func (s Consolidation) Proposal(ctx context.Context, id string) (learning.Proposal, error) {
	return s.one(ctx, http.MethodGet, id, "", nil)
}

// Accept implements learning.ConsolidationService.
func (s Consolidation) Accept(ctx context.Context, id string) (learning.Proposal, error) {
	return s.one(ctx, http.MethodPost, id, "/accept", nil)
}

// Reject implements learning.ConsolidationService.
func (s Consolidation) Reject(ctx context.Context, id, reason string) (learning.Proposal, error) {
	return s.one(ctx, http.MethodPost, id, "/reject", map[string]string{"reason": reason})
}

func (s Consolidation) one(ctx context.Context, method, id, verb string, body any) (learning.Proposal, error) {
	path, err := segment("id", id)
	if err != nil {
		return learning.Proposal{}, err
	}
	return call[learning.Proposal](ctx, s.c, method, "/api/proposals/"+path+verb, nil, body)
}
