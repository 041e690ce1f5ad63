package httpapi

import (
	"context"

	"skillrouter/learning/feedback"
	"skillrouter/learning/knowledge"
)

func (s *Server) gapRoutes(gaps feedback.GapService) {
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

func (s *Server) answeredRoutes(answers knowledge.AnswerService) {
	at := s.at("knowledge", "/api/knowledge/{id}/used")
	at.post("", "Say that the entry answered a question, or did not; like questions find it from the next search on", changed(answers.Answered))
	at.get("", "The questions that the entry answered, the latest first", named(answers.Questions))
	at.delete("", "Take back what was learned of the entry: one's own voices, or as a captain all", named(answers.Unlearn))
}
