package httpapi

import (
	"context"

	"skillrouter/learning/history"
)

// maxTranscriptBody bounds a transcript's request, in bytes: MaxTranscript with room for JSON's escapes.
const maxTranscriptBody = 2 * history.MaxTranscript

// Proposals is the answer of GET /api/proposals.
type Proposals struct {
	Proposals []history.Proposal `json:"proposals"`
	Count     int                `json:"count" doc:"How many are in this answer"`
}

// Rejection says why a proposal is not worth remembering.
type Rejection struct {
	Reason string `json:"reason,omitempty"`
}

func (s *Server) consolidationRoutes(consolidation history.ConsolidationService) {
	s.at("consolidation", "/api/consolidations").post("", "Propose what a transcript is worth remembering for; 200 if it was consolidated before",
		createdIf(sent(consolidation.Consolidate), func(c history.Consolidated) bool { return !c.Duplicate }).upTo(maxTranscriptBody))

	at := s.at("consolidation", "/api/proposals")
	at.get("", "What transcripts propose to remember, the latest first",
		asked(as(consolidation.Proposals, func(list []history.Proposal) Proposals { return Proposals{list, len(list)} })))
	at.get("/{id}", "One proposal with its evidence", named(consolidation.Proposal))
	at.post("/{id}/accept", "Store what is proposed; again: nothing changes", verb(consolidation.Accept))
	at.post("/{id}/reject", "Say that it is not worth remembering",
		changed(func(ctx context.Context, id string, why Rejection) (history.Proposal, error) {
			return consolidation.Reject(ctx, id, why.Reason)
		}))
}
