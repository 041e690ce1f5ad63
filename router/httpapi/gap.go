package httpapi

import (
	"context"

	"skillrouter/learning/feedback"
)

func (s *Server) gapRoutes() {
	gaps := s.services.Gaps
	if gaps == nil {
		return
	}
	at := s.at("gaps", "/api/gaps")
	at.get("", "What was asked and found nothing", asked(gaps.List))
	at.get("/{id}", "One gap", named(gaps.Gap))
	at.post("/{id}/check", "Ask the question again; if something answers it now, the gap is answered", verb(gaps.Check))
	at.post("/{id}/dismiss", "Say that the gap need not be filled, however often the question is asked",
		changed(func(ctx context.Context, id string, why Rejection) (feedback.Gap, error) {
			return gaps.Dismiss(ctx, id, why.Reason)
		}))
	at.post("/{id}/reopen", "Take a dismissal back", verb(gaps.Reopen))
}
