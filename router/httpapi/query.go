package httpapi

import (
	"context"

	"skillrouter/router"
)

func (s *Server) queryRoutes() {
	if s.services.Router == nil {
		return
	}
	at := s.at("router", "/query")
	at.post("", "Ask a question in plain words; it is answered from the store that fits, several questions in one query each in a section", sent(s.services.Router.Ask))
	feedback := s.services.Feedback
	if feedback == nil {
		return
	}
	at.post("/feedback", "Say what kind of question a query is, or whether the router's choice is right; it is heeded at once", sent(feedback.Teach))
	at.get("/feedback", "What the router was taught, the oldest first", bare(feedback.Feedback))
	at.delete("/feedback", "Forget everything that was taught, or what one agent taught", typed(func(ctx context.Context, in *struct {
		AgentID string `query:"agent_id" doc:"only this agent's"`
	},
	) (router.FeedbackGone, error) {
		return feedback.UnteachAll(ctx, in.AgentID)
	}))
	at.delete("/feedback/{id}", "Forget one thing that was taught: its teacher may, and a captain", named(silent(feedback.Unteach)))
}
