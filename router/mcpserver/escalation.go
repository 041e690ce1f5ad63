package mcpserver

import (
	"context"
	"fmt"
	"time"

	"skillrouter"
	"skillrouter/operational"
)

type pendingEscalations struct {
	To    string `json:"agent_id"`
	Limit int    `json:"limit"`
}

type resolveEscalation struct {
	ID     string                       `json:"escalation_id"`
	Status operational.EscalationStatus `json:"status"`
	Notes  string                       `json:"notes"`
}

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

func (s *Server) addEscalationTools() {
	add(s, tool{
		name: "pending_escalations", title: "Pending escalations", set: ToolsetLessons, effect: reads,
		description: "Lessons and patterns that wait for a supervisor's eye, the most urgent first.",
		input: arguments(
			text("agent_id", "Only those to this agent"),
			integer("limit", "", 1, operational.MaxLimit),
		),
		output: holds("escalations"),
	}, s.pendingEscalations)
	add(s, tool{
		name: "resolve_escalation", title: "Settle an escalation", set: ToolsetLessons, effect: ensure,
		description: "Say that an escalation was looked at (reviewed), is settled (resolved), or is no matter for its agent (dismissed).",
		input: arguments(
			required(text("escalation_id", "")),
			oneOf("status", "Default resolved", operational.EscalationReviewed, operational.EscalationResolved, operational.EscalationDismissed),
			text("notes", ""),
		),
		output: holds("escalation"),
	}, s.resolveEscalation)
}

func (s *Server) pendingEscalations(ctx context.Context, in pendingEscalations) (reply[escalations], error) {
	found, err := s.services.Escalations.List(ctx, operational.EscalationFilter{
		Status: []operational.EscalationStatus{operational.EscalationPending}, To: in.To, Limit: in.Limit,
	})
	if err != nil {
		return reply[escalations]{}, err
	}
	out := escalations{Escalations: []escalation{}}
	for _, e := range found {
		out.Escalations = append(out.Escalations, shownEscalation(e))
	}
	if len(out.Escalations) == 0 {
		return reply[escalations]{out, "Nothing waits."}, nil
	}
	out.Notice = notice
	f := newFence("%s, the most urgent first.", count(len(out.Escalations), "escalation waits", "escalations wait"))
	f.addEscalations(out.Escalations)
	return reply[escalations]{out, f.String()}, nil
}

func (s *Server) resolveEscalation(ctx context.Context, in resolveEscalation) (reply[oneEscalation], error) {
	settle := s.services.Escalations.Resolve
	switch in.Status {
	case "", operational.EscalationResolved:
	case operational.EscalationReviewed:
		settle = s.services.Escalations.Review
	case operational.EscalationDismissed:
		settle = s.services.Escalations.Dismiss
	default:
		return reply[oneEscalation]{}, skillrouter.InvalidField("status", "must be one of reviewed, resolved, dismissed")
	}
	settled, err := settle(ctx, in.ID, operational.EscalationVerdict{By: s.actor(ctx, ""), Notes: in.Notes})
	if err != nil {
		return reply[oneEscalation]{}, err
	}
	list := []escalation{shownEscalation(settled)}
	f := newFence("The escalation is %s.", settled.Status)
	f.addEscalations(list)
	return reply[oneEscalation]{oneEscalation{list[0], notice}, f.String()}, nil
}

func shownEscalation(e operational.Escalation) escalation {
	return escalation{
		ID: e.ID, LessonID: e.LessonID, PatternID: e.PatternID, Title: e.Title, Domain: e.Domain, SourceAgent: e.SourceAgent,
		To: e.To, Reason: e.Reason, Priority: e.Priority, Status: e.Status, Occurrences: e.Occurrences, CreatedAt: e.CreatedAt,
	}
}

// addEscalations shortens the escalations to what an answer may hold and appends them.
func (f *fence) addEscalations(list []escalation) {
	texts := make([][]*string, len(list))
	for i := range list {
		texts[i] = []*string{&list[i].Title, &list[i].Reason}
	}
	fitTexts(texts)
	f.explain()
	for i, e := range list {
		f.add(
			fmt.Sprintf("%d. %s, %s, to %s, raised %d×, first at %s, by %s",
				i+1, e.Priority, e.Status, author(e.To), e.Occurrences, e.CreatedAt.UTC().Format(time.RFC3339), author(e.SourceAgent)),
			attributes("id", e.ID, "lesson", e.LessonID, "pattern", e.PatternID, "domain", e.Domain), e.Title, part("Reason", e.Reason))
	}
}
