package httpapi

import (
	"context"

	"skillrouter/internal/operation"
	"skillrouter/operational"
)

// pendingSelection selects escalations that nobody has looked at.
type pendingSelection struct {
	To       string `query:"to" doc:"Only those that went to this agent"`
	LessonID string `query:"lesson_id" doc:"Only those of this lesson"`
	Limit    int    `query:"limit" doc:"1 to 1000; 0: 100"`
}

func (s *Server) escalationRoutes(escalations operational.EscalationService) {
	s.offer(escalations, operation.Below("escalations", "/escalations",
		operation.Get("/pending", "The escalations that nobody has looked at, the most urgent first, as a bare list",
			func(e operational.EscalationService, ctx context.Context, q pendingSelection) ([]operational.Escalation, error) {
				return e.List(ctx, operational.EscalationFilter{
					Status: []operational.EscalationStatus{operational.EscalationPending}, To: q.To, LessonID: q.LessonID, Limit: q.Limit,
				})
			})))
}
