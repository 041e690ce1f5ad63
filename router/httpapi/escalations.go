package httpapi

import (
	"context"

	"skillrouter/operational"
)

// EscalationList is the answer of GET /escalations.
type EscalationList struct {
	Escalations []operational.Escalation `json:"escalations"`
	Count       int                      `json:"count" doc:"How many are in this answer"`
}

// pendingSelection selects escalations that nobody has looked at.
type pendingSelection struct {
	To       string `query:"to" doc:"Only those that went to this agent"`
	LessonID string `query:"lesson_id" doc:"Only those of this lesson"`
	Limit    int    `query:"limit" doc:"1 to 1000; 0: 100"`
}

func (s *Server) escalationRoutes(escalations operational.EscalationService) {
	at := s.at("escalations", "/escalations")
	at.get("/pending", "The escalations that nobody has looked at, the most urgent first, as a bare list",
		asked(func(ctx context.Context, q pendingSelection) ([]operational.Escalation, error) {
			return escalations.List(ctx, operational.EscalationFilter{
				Status: []operational.EscalationStatus{operational.EscalationPending}, To: q.To, LessonID: q.LessonID, Limit: q.Limit,
			})
		}))
	at.get("", "List escalations, the most urgent first, and among these the latest",
		asked(as(escalations.List, func(list []operational.Escalation) EscalationList { return EscalationList{list, len(list)} })))
	at.get("/{id}", "One escalation with its history", named(escalations.Escalation))
	at.post("/{id}/review", "Say that somebody has looked at it", changed(escalations.Review))
	at.post("/{id}/resolve", "Say that it is settled; if the matter recurs, it is raised anew", changed(escalations.Resolve))
	at.post("/{id}/dismiss", "Say that it is no matter for its agent; it is never raised again for this reason", changed(escalations.Dismiss))
}
