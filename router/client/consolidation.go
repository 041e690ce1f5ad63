package client

import (
	"context"
	"net/http"

	"skillrouter/learning/history"
)

// Consolidation is history.ConsolidationService over HTTP.
type Consolidation struct{ c *Client }

var _ history.ConsolidationService = Consolidation{}

// Consolidate implements history.ConsolidationService. The client's time limit
// must leave room for a model's answer.
func (s Consolidation) Consolidate(ctx context.Context, transcript history.TranscriptDraft) (history.Consolidated, error) {
	return call[history.Consolidated](ctx, s.c, http.MethodPost, at("/api/consolidations"), transcript)
}

// Proposals implements history.ConsolidationService.
func (s Consolidation) Proposals(ctx context.Context, filter history.ProposalFilter) ([]history.Proposal, error) {
	return list[history.Proposal](ctx, s.c, at("/api/proposals").with(filter), "proposals")
}

// Proposal implements history.ConsolidationService.
func (s Consolidation) Proposal(ctx context.Context, id string) (history.Proposal, error) {
	return s.one(ctx, http.MethodGet, id, "", nil)
}

// Accept implements history.ConsolidationService.
func (s Consolidation) Accept(ctx context.Context, id string) (history.Proposal, error) {
	return s.one(ctx, http.MethodPost, id, "/accept", nil)
}

// Reject implements history.ConsolidationService.
func (s Consolidation) Reject(ctx context.Context, id, reason string) (history.Proposal, error) {
	return s.one(ctx, http.MethodPost, id, "/reject", map[string]string{"reason": reason})
}

func (s Consolidation) one(ctx context.Context, method, id, verb string, body any) (history.Proposal, error) {
	return call[history.Proposal](ctx, s.c, method, at("/api/proposals/{id}"+verb, id), body)
}
