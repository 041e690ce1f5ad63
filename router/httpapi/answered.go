package httpapi

import (
	"context"
	"net/http"

	"skillrouter/learning"
)

func (s *Server) answeredRoutes() {
	answers := s.services.Answered
	if answers == nil {
		return
	}
	const path = "/api/knowledge/{id}/used"
	type one struct {
		ID string `path:"id"`
	}
	register(s, operation(http.MethodPost, path, "knowledge", "Say that the entry answered a question, or did not; like questions find it from the next search on"),
		func(ctx context.Context, in *changeInput[learning.AnswerDraft]) (*answer[learning.AnswerLearned], error) {
			learned, err := answers.Answered(ctx, in.ID, given(in.Body))
			return reply(learned), err
		})
	register(s, operation(http.MethodGet, path, "knowledge", "The questions that the entry answered, the latest first"),
		func(ctx context.Context, in *one) (*answer[learning.AnswerList], error) {
			list, err := answers.Questions(ctx, in.ID)
			list.Answers = emptied(list.Answers)
			return reply(list), err
		})
	register(s, operation(http.MethodDelete, path, "knowledge", "Take back what was learned of the entry: one's own voices, or as a captain all"),
		func(ctx context.Context, in *one) (*answer[learning.AnswersGone], error) {
			gone, err := answers.Unlearn(ctx, in.ID)
			return reply(gone), err
		})
}
