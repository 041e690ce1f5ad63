package httpapi

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

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

// escalationSelection selects escalations.
type escalationSelection struct {
	To       string                         `query:"to" doc:"Only those that went to this agent"`
	LessonID string                         `query:"lesson_id" doc:"Only those of this lesson"`
	Limit    int                            `query:"limit" doc:"1 to 1000; 0: 100"`
	Status   []operational.EscalationStatus `query:"status" doc:"One or more, separated by commas: pending, reviewed, resolved, dismissed; none: all"`
}

func (s *Server) escalationRoutes() {
	escalations := s.services.Escalations
	if escalations == nil {
		return
	}
	op := func(method, path, summary string) huma.Operation {
		return operation(method, "/escalations"+path, "escalations", summary)
	}

	register(s, op(http.MethodGet, "/pending", "The escalations that nobody has looked at, the most urgent first, as a bare list"),
		func(ctx context.Context, in *pendingSelection) (*answer[[]operational.Escalation], error) {
			list, err := escalations.List(ctx, operational.EscalationFilter{
				Status: []operational.EscalationStatus{operational.EscalationPending}, To: in.To, LessonID: in.LessonID, Limit: in.Limit,
			})
			return reply(emptied(list)), err
		})
	register(s, op(http.MethodGet, "", "List escalations, the most urgent first, and among these the latest"),
		func(ctx context.Context, in *escalationSelection) (*answer[EscalationList], error) {
			list, err := escalations.List(ctx, operational.EscalationFilter{Status: in.Status, To: in.To, LessonID: in.LessonID, Limit: in.Limit})
			return reply(EscalationList{Escalations: emptied(list), Count: len(list)}), err
		})
	register(s, op(http.MethodGet, "/{id}", "One escalation with its history"),
		func(ctx context.Context, in *struct {
			ID string `path:"id"`
		},
		) (*answer[operational.Escalation], error) {
			escalation, err := escalations.Escalation(ctx, in.ID)
			return reply(escalation), err
		})
	for _, verb := range []struct {
		path, summary string
		change        func(ctx context.Context, id string, verdict operational.EscalationVerdict) (operational.Escalation, error)
	}{
		{"/{id}/review", "Say that somebody has looked at it", escalations.Review},
		{"/{id}/resolve", "Say that it is settled; if the matter recurs, it is raised anew", escalations.Resolve},
		{"/{id}/dismiss", "Say that it is no matter for its agent; it is never raised again for this reason", escalations.Dismiss},
	} {
		register(s, op(http.MethodPost, verb.path, verb.summary),
			func(ctx context.Context, in *changeInput[operational.EscalationVerdict]) (*answer[operational.Escalation], error) {
				escalation, err := verb.change(ctx, in.ID, given(in.Body))
				return reply(escalation), err
			})
	}
}
