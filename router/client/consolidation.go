package client

import (
	"context"
	"net/http"

	"skillrouter/learning/consolidate"
)

// Consolidation is consolidate.Service over HTTP.
type Consolidation struct{ c *Client }

var _ consolidate.Service = Consolidation{}

// Consolidate implements consolidate.Service. The client's time limit
// must leave room for a model's answer.
func (s Consolidation) Consolidate(ctx context.Context, transcript consolidate.TranscriptDraft) (consolidate.Consolidated, error) {
	return call[consolidate.Consolidated](ctx, s.c, http.MethodPost, at("/api/consolidations"), transcript)
}

// Proposals implements consolidate.Service.
func (s Consolidation) Proposals(ctx context.Context, filter consolidate.ProposalFilter) ([]consolidate.Proposal, error) {
	return list[consolidate.Proposal](ctx, s.c, at("/api/proposals").with(filter), "proposals")
}

// Proposal implements consolidate.Service.
func (s Consolidation) Proposal(ctx context.Context, id string) (consolidate.Proposal, error) {
	return s.one(ctx, http.MethodGet, id, "", nil)
}

// Accept implements consolidate.Service.
func (s Consolidation) Accept(ctx context.Context, id string) (consolidate.Proposal, error) {
	return s.one(ctx, http.MethodPost, id, "/accept", nil)
}

// Reject implements consolidate.Service.
func (s Consolidation) Reject(ctx context.Context, id, reason string) (consolidate.Proposal, error) {
	return s.one(ctx, http.MethodPost, id, "/reject", map[string]string{"reason": reason})
}

func (s Consolidation) one(ctx context.Context, method, id, verb string, body any) (consolidate.Proposal, error) {
	return call[consolidate.Proposal](ctx, s.c, method, at("/api/proposals/{id}"+verb, id), body)
}
