package mcpserver

import (
	"context"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/operational"
)

// settlement is what resolve_escalation takes: which end, and who says so.
type settlement struct {
	operational.EscalationVerdict
	Status operational.EscalationStatus `json:"status"`
}

// escalationTools are what waits for a supervisor's eye.
func escalationTools() []tool {
	return []tool{
		{
			name: "pending_escalations", title: "Pending escalations", effect: reads, as: "escalations",
			description: "Lessons and patterns that wait for a supervisor's eye, the most urgent first.",
			does:        (*Server).pendingEscalations, takes: "agent_id=to limit", about: words{"agent_id": "Only those to this agent"}, none: "Nothing waits",
		},
		{
			name: "resolve_escalation", title: "Settle an escalation", effect: ensure, as: "escalation",
			description: "Say that an escalation was looked at (reviewed), is settled (resolved), or is no matter for its agent (dismissed). Without a status it is resolved.",
			does:        (*Server).settleEscalation, takes: "escalation_id! status notes",
			about: words{"status": oneOf(operational.EscalationReviewed, operational.EscalationResolved, operational.EscalationDismissed)},
		},
	}
}

func (s *Server) pendingEscalations(ctx context.Context, f operational.EscalationFilter) ([]operational.Escalation, error) {
	f.Status = []operational.EscalationStatus{operational.EscalationPending}
	return s.services.Escalations.List(ctx, f)
}

func (s *Server) settleEscalation(ctx context.Context, id string, e settlement) (operational.Escalation, error) {
	switch e.Status {
	case "", operational.EscalationResolved:
		return s.services.Escalations.Resolve(ctx, id, e.EscalationVerdict)
	case operational.EscalationReviewed:
		return s.services.Escalations.Review(ctx, id, e.EscalationVerdict)
	case operational.EscalationDismissed:
		return s.services.Escalations.Dismiss(ctx, id, e.EscalationVerdict)
	default:
		return operational.Escalation{}, errs.InvalidField("status", "must be one of reviewed, resolved, dismissed")
	}
}
