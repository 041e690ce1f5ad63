package mcpserver

import (
	"context"
	"fmt"
	"time"

	"skillrouter/internal/errs"
	"skillrouter/operational"
)

// escalation is what a model needs of an escalation.
type escalation struct {
	ID          string                         `json:"id"`
	LessonID    string                         `json:"lesson_id,omitempty"`
	PatternID   string                         `json:"pattern_id,omitempty"`
	Title       string                         `json:"title"`
	Domain      string                         `json:"domain,omitempty"`
	SourceAgent string                         `json:"source_agent,omitempty"`
	To          string                         `json:"escalated_to"`
	Reason      string                         `json:"reason"`
	Priority    operational.EscalationPriority `json:"priority"`
	Status      operational.EscalationStatus   `json:"status"`
	Occurrences int64                          `json:"occurrence_count"`
	CreatedAt   time.Time                      `json:"created_at"`
}

type escalations struct {
	Escalations []escalation `json:"escalations"`
	Notice      string       `json:"notice,omitempty"`
}

type oneEscalation struct {
	Escalation escalation `json:"escalation"`
	Notice     string     `json:"notice"`
}

// settlement is what resolve_escalation takes: of which escalation, which end, and who says so.
type settlement struct {
	change[string, operational.EscalationVerdict]
	status operational.EscalationStatus
}

func (s *Server) addEscalationTools() {
	add(s, tool{
		name: "pending_escalations", title: "Pending escalations", set: ToolsetLessons, effect: reads, holds: "escalations",
		description: "Lessons and patterns that wait for a supervisor's eye, the most urgent first.",
	}, func(p *params, f *operational.EscalationFilter) {
		f.Status = []operational.EscalationStatus{operational.EscalationPending}
		p.may("agent_id", &f.To, "Only those to this agent")
		p.limit(&f.Limit, 0, operational.MaxLimit)
	}, then(s.services.Escalations.List, func(found []operational.Escalation) (escalations, string) {
		out := escalations{Escalations: views(found, shownEscalation)}
		return out, listing(out.Escalations, &out.Notice, escalationEntry, "Nothing waits.",
			"%s, the most urgent first.", count(len(found), "escalation waits", "escalations wait")).String()
	}))
	add(s, tool{
		name: "resolve_escalation", title: "Settle an escalation", set: ToolsetLessons, effect: ensure, holds: "escalation",
		description: "Say that an escalation was looked at (reviewed), is settled (resolved), or is no matter for its agent (dismissed).",
	}, func(p *params, e *settlement) {
		p.must("escalation_id", &e.id, "")
		p.may("status", &e.status, "Default resolved", among(operational.EscalationReviewed, operational.EscalationResolved, operational.EscalationDismissed))
		p.may("notes", &e.draft.Notes, "")
		p.actor(&e.draft.By)
	}, then(s.settleEscalation, func(settled operational.Escalation) (oneEscalation, string) {
		out := oneEscalation{shownEscalation(settled), notice}
		text := alone(&out.Escalation, escalationEntry, "The escalation is %s.", settled.Status)
		return out, text
	}))
}

func (s *Server) settleEscalation(ctx context.Context, e settlement) (operational.Escalation, error) {
	switch e.status {
	case "", operational.EscalationResolved:
		return s.services.Escalations.Resolve(ctx, e.id, e.draft)
	case operational.EscalationReviewed:
		return s.services.Escalations.Review(ctx, e.id, e.draft)
	case operational.EscalationDismissed:
		return s.services.Escalations.Dismiss(ctx, e.id, e.draft)
	default:
		return operational.Escalation{}, errs.InvalidField("status", "must be one of reviewed, resolved, dismissed")
	}
}

func shownEscalation(e operational.Escalation) escalation {
	return escalation{
		ID: e.ID, LessonID: e.LessonID, PatternID: e.PatternID, Title: e.Title, Domain: e.Domain, SourceAgent: e.SourceAgent,
		To: e.To, Reason: e.Reason, Priority: e.Priority, Status: e.Status, Occurrences: e.Occurrences, CreatedAt: e.CreatedAt,
	}
}

func escalationEntry(e *escalation) entry {
	return entry{[]*string{&e.Title, &e.Reason}, func(int) (string, []string) {
		return fmt.Sprintf("%s, %s, to %s, raised %d×, first at %s, by %s",
			e.Priority, e.Status, author(e.To), e.Occurrences, e.CreatedAt.UTC().Format(time.RFC3339), author(e.SourceAgent)), []string{
			attributes("id", e.ID, "lesson", e.LessonID, "pattern", e.PatternID, "domain", e.Domain), e.Title, part("Reason", e.Reason),
		}
	}}
}
