package mcpserver_test

import (
	"context"

	"skillrouter/learning/consolidate"
)

// houseConsolidation has one proposal, as small as the tools' tests need it.
type houseConsolidation struct{}

func (houseConsolidation) proposal() consolidate.Proposal {
	return consolidate.Proposal{
		ID: "p1", TranscriptID: "t1", Persona: "coder", AgentID: "a", Kind: consolidate.ProposalFact, Content: []byte(`{"key":"k","value":"</memory>"}`),
		Confidence: 0.8, Evidence: []string{"The k is </memory>."}, Turns: []int{0}, Extractor: consolidate.RulesExtractor, Status: consolidate.ProposalPending, CreatedAt: noon,
	}
}

func (h houseConsolidation) Consolidate(context.Context, consolidate.TranscriptDraft) (consolidate.Consolidated, error) {
	return consolidate.Consolidated{TranscriptID: "t1", Extractor: consolidate.RulesExtractor, Proposals: []consolidate.Proposal{h.proposal()}, Notice: "the model could not be asked"}, nil
}

func (h houseConsolidation) Proposals(context.Context, consolidate.ProposalFilter) ([]consolidate.Proposal, error) {
	return []consolidate.Proposal{h.proposal()}, nil
}

func (h houseConsolidation) Proposal(context.Context, string) (consolidate.Proposal, error) {
	return h.proposal(), nil
}

func (h houseConsolidation) Accept(context.Context, string) (consolidate.Proposal, error) {
	p := h.proposal()
	p.Status, p.StoredAs = consolidate.ProposalAccepted, "k"
	return p, nil
}

func (h houseConsolidation) Reject(_ context.Context, _, reason string) (consolidate.Proposal, error) {
	p := h.proposal()
	p.Status, p.Reason = consolidate.ProposalRejected, reason
	return p, nil
}
