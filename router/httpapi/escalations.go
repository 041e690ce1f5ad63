package httpapi

import (
	"context"

	"skillrouter/operational"
)

// pendingSelection selects escalations that nobody has looked at.
type pendingSelection struct {
	To       string `query:"to" doc:"Only those that went to this agent"`
	LessonID string `query:"lesson_id" doc:"Only those of this lesson"`
	Limit    int    `query:"limit" doc:"1 to 1000; 0: 100"`
}

func (s *Server) escalationRoutes(escalations operational.EscalationService) {
	offer(s, operational.Operations.Escalations, escalations)
	s.at("escalations", "/escalations").get("/pending", "The escalations that nobody has looked at, the most urgent first, as a bare list",
		asked(func(ctx context.Context, q pendingSelection) ([]operational.Escalation, error) {
			return escalations.List(ctx, operational.EscalationFilter{
				Status: []operational.EscalationStatus{operational.EscalationPending}, To: q.To, LessonID: q.LessonID, Limit: q.Limit,
			})
		}))
}
