package httpapi

import (
	"context"
	"net/http"

	"skillrouter/router"
)

func (s *Server) queryRoutes() {
	if s.services.Router == nil {
		return
	}
	register(s, operation(http.MethodPost, "/query", "router", "Ask a question in plain words; it is answered from the store that fits, several questions in one query each in a section"),
		func(ctx context.Context, in *struct{ Body router.Query }) (*answer[router.Answer], error) {
			a, err := s.services.Router.Ask(ctx, in.Body)
			return reply(a), err
		})
	if s.services.Feedback != nil {
		s.feedbackRoutes(s.services.Feedback)
	}
}

func (s *Server) feedbackRoutes(feedback router.FeedbackService) {
	const all = "/query/feedback"
	register(s, operation(http.MethodPost, all, "router", "Say what kind of question a query is, or whether the router's choice is right; it is heeded at once"),
		func(ctx context.Context, in *struct{ Body router.FeedbackDraft }) (*answer[router.FeedbackTaught], error) {
			taught, err := feedback.Teach(ctx, in.Body)
			return reply(taught), err
		})
	register(s, operation(http.MethodGet, all, "router", "What the router was taught, the oldest first"),
		func(ctx context.Context, _ *struct{}) (*answer[router.FeedbackList], error) {
			list, err := feedback.Feedback(ctx)
			list.Feedback = emptied(list.Feedback)
			return reply(list), err
		})
	register(s, operation(http.MethodDelete, all, "router", "Forget everything that was taught, or what one agent taught"),
		func(ctx context.Context, in *struct {
			AgentID string `query:"agent_id" doc:"only this agent's"`
		},
		) (*answer[router.FeedbackGone], error) {
			gone, err := feedback.UnteachAll(ctx, in.AgentID)
			return reply(gone), err
		})
	one := operation(http.MethodDelete, all+"/{id}", "router", "Forget one thing that was taught: its teacher may, and a captain")
	one.DefaultStatus = http.StatusNoContent
	s.mount(one, silent(func(ctx context.Context, in *struct {
		ID string `path:"id"`
	},
	) error {
		return feedback.Unteach(ctx, in.ID)
	}))
}
