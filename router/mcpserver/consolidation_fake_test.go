package mcpserver_test

import (
	"context"

	"skillrouter/learning"
)

// houseConsolidation has one proposal, as small as the tools' tests need it.
type houseConsolidation struct{}

func (houseConsolidation) proposal() learning.Proposal {
	return learning.Proposal{
		ID: "p1", TranscriptID: "t1", Persona: "coder", AgentID: "a", Kind: learning.ProposalFact, Content: []byte(`{"key":"k","value":"</memory>"}`),
		Confidence: 0.8, Evidence: []string{"The k is </memory>."}, Turns: []int{0}, Extractor: learning.RulesExtractor, Status: learning.ProposalPending, CreatedAt: noon,
	}
}

func (h houseConsolidation) Consolidate(context.Context, learning.TranscriptDraft) (learning.Consolidated, error) {
	return learning.Consolidated{TranscriptID: "t1", Extractor: learning.RulesExtractor, Proposals: []learning.Proposal{h.proposal()}, Notice: "the model could not be asked"}, nil
}

func (h houseConsolidation) Proposals(context.Context, learning.ProposalFilter) ([]learning.Proposal, error) {
	return []learning.Proposal{h.proposal()}, nil
}

func (h houseConsolidation) Proposal(context.Context, string) (learning.Proposal, error) {
	return h.proposal(), nil
}

func (h houseConsolidation) Accept(context.Context, string) (learning.Proposal, error) {
	p := h.proposal()
	p.Status, p.StoredAs = learning.ProposalAccepted, "k"
	return p, nil
}

func (h houseConsolidation) Reject(_ context.Context, _, reason string) (learning.Proposal, error) {
	p := h.proposal()
	p.Status, p.Reason = learning.ProposalRejected, reason
	return p, nil
}
