package httpapi

import (
	"context"
	"net/http"

	"skillrouter/learning"
)

// maxTranscriptBody bounds a transcript's request, in bytes: MaxTranscript with room for JSON's escapes.
const maxTranscriptBody = 2 * learning.MaxTranscript

// Proposals is the answer of GET /api/proposals.
type Proposals struct {
	Proposals []learning.Proposal `json:"proposals"`
	Count     int                 `json:"count" doc:"How many are in this answer"`
}

// Rejection says why a proposal is not worth remembering.
type Rejection struct {
	Reason string `json:"reason,omitempty"`
}

func (s *Server) consolidationRoutes() {
	consolidation := s.services.Consolidation
	if consolidation == nil {
		return
	}
	create := operation(http.MethodPost, "/api/consolidations", "consolidation", "Propose what a transcript is worth remembering for; 200 if it was consolidated before")
	create.DefaultStatus = http.StatusCreated
	create.MaxBodyBytes = maxTranscriptBody
	register(s, create, func(ctx context.Context, in *struct{ Body learning.TranscriptDraft }) (*answer[learning.Consolidated], error) {
		became, err := consolidation.Consolidate(ctx, in.Body)
		a := &answer[learning.Consolidated]{Status: http.StatusCreated, Body: became}
		if became.Duplicate {
			a.Status = http.StatusOK
		}
		return a, err
	})
	register(s, operation(http.MethodGet, "/api/proposals", "consolidation", "What transcripts propose to remember, the latest first"), func(ctx context.Context, in *struct {
		Persona      string                  `query:"persona"`
		TranscriptID string                  `query:"transcript_id"`
		SessionID    string                  `query:"session_id"`
		Kind         learning.ProposalKind   `query:"kind" doc:"fact, episode or procedure"`
		Status       learning.ProposalStatus `query:"status" doc:"pending, accepted or rejected"`
		Limit        int                     `query:"limit" doc:"1 to 1000; 0: 100"`
	},
	) (*answer[Proposals], error) {
		found, err := consolidation.Proposals(ctx, learning.ProposalFilter{
			Persona: in.Persona, TranscriptID: in.TranscriptID, SessionID: in.SessionID, Kind: in.Kind, Status: in.Status, Limit: in.Limit,
		})
		return reply(Proposals{Proposals: emptied(found), Count: len(found)}), err
	})
	register(s, operation(http.MethodGet, "/api/proposals/{id}", "consolidation", "One proposal with its evidence"),
		func(ctx context.Context, in *struct {
			ID string `path:"id"`
		},
		) (*answer[learning.Proposal], error) {
			found, err := consolidation.Proposal(ctx, in.ID)
			return reply(found), err
		})
	register(s, operation(http.MethodPost, "/api/proposals/{id}/accept", "consolidation", "Store what is proposed; again: nothing changes"),
		func(ctx context.Context, in *changeInput[struct{}]) (*answer[learning.Proposal], error) {
			accepted, err := consolidation.Accept(ctx, in.ID)
			return reply(accepted), err
		})
	register(s, operation(http.MethodPost, "/api/proposals/{id}/reject", "consolidation", "Say that it is not worth remembering"),
		func(ctx context.Context, in *changeInput[Rejection]) (*answer[learning.Proposal], error) {
			rejected, err := consolidation.Reject(ctx, in.ID, given(in.Body).Reason)
			return reply(rejected), err
		})
}
