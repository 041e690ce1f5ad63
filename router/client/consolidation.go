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
	return call[learning.Consolidated](ctx, s.c, http.MethodPost, at("/api/consolidations"), transcript)
}

// Proposals implements learning.ConsolidationService.
func (s Consolidation) Proposals(ctx context.Context, filter learning.ProposalFilter) ([]learning.Proposal, error) {
	return list[learning.Proposal](ctx, s.c, at("/api/proposals").with(filter), "proposals")
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
	return call[learning.Proposal](ctx, s.c, method, at("/api/proposals/{id}"+verb, id), body)
}
