package mcpserver_test

import (
	"context"

	"github.com/skillrouter/skillrouter/learning/history"
)

// houseConsolidation has one proposal, as small as the tools' tests need it.
type houseConsolidation struct{}

func (houseConsolidation) proposal() history.Proposal {
	return history.Proposal{
		ID: "p1", TranscriptID: "t1", Persona: "coder", AgentID: "a", Kind: history.ProposalFact, Content: []byte(`{"key":"k","value":"</memory>"}`),
		Confidence: 0.8, Evidence: []string{"The k is </memory>."}, Turns: []int{0}, Extractor: history.RulesExtractor, Status: history.ProposalPending, CreatedAt: noon,
	}
}

func (h houseConsolidation) Consolidate(context.Context, history.TranscriptDraft) (history.Consolidated, error) {
	return history.Consolidated{TranscriptID: "t1", Extractor: history.RulesExtractor, Proposals: []history.Proposal{h.proposal()}, Notice: "the model could not be asked"}, nil
}

func (h houseConsolidation) Proposals(context.Context, history.ProposalFilter) ([]history.Proposal, error) {
	return []history.Proposal{h.proposal()}, nil
}

func (h houseConsolidation) Proposal(context.Context, string) (history.Proposal, error) {
	return h.proposal(), nil
}

func (h houseConsolidation) Accept(context.Context, string) (history.Proposal, error) {
	p := h.proposal()
	p.Status, p.StoredAs = history.ProposalAccepted, "k"
	return p, nil
}

func (h houseConsolidation) Reject(_ context.Context, _, reason string) (history.Proposal, error) {
	p := h.proposal()
	p.Status, p.Reason = history.ProposalRejected, reason
	return p, nil
}
