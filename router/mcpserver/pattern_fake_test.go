package mcpserver_test

import (
	"context"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/learning/lesson"
	"github.com/skillrouter/skillrouter/operational"
)

// housePatterns has one pattern, as small as the tools' tests need it.
type housePatterns struct {
	lesson.PatternService // what no tool calls
	status                lesson.PatternStatus
}

func (h *housePatterns) one() lesson.Pattern {
	return lesson.Pattern{
		ID: "p1", Number: 1, Name: "backups fail", Type: lesson.PatternRecurringFailure, Description: "D", Domain: "docker", Status: h.status,
		LessonIDs: []string{"l1", "l2"}, Frequency: 2, Why: []string{"both say permission"}, Prevention: []string{"chown"}, LastSeen: noon,
	}
}

func (h *housePatterns) List(_ context.Context, f lesson.PatternFilter) ([]lesson.Pattern, error) {
	if f.Domain == "nowhere" || len(f.Statuses) != 1 || f.Statuses[0] != h.status {
		return nil, nil
	}
	return []lesson.Pattern{h.one()}, nil
}

func (h *housePatterns) Confirm(_ context.Context, ref string, d lesson.ConfirmationDraft) (lesson.Pattern, error) {
	if ref != "1" && ref != "p1" {
		return lesson.Pattern{}, errs.Errorf(errs.NotFound, "there is no such pattern")
	}
	h.status = lesson.PatternConfirmed
	p := h.one()
	p.ConfirmedBy = d.By
	return p, nil
}

func (h *housePatterns) Deprecate(ctx context.Context, ref string, d lesson.ConfirmationDraft) (lesson.Pattern, error) {
	return h.Confirm(ctx, ref, d)
}

// houseEscalations has one escalation.
type houseEscalations struct {
	operational.EscalationService // what no tool calls
	e                             operational.Escalation
}

func newHouseEscalations() *houseEscalations {
	return &houseEscalations{e: operational.Escalation{
		ID: "x1", LessonID: "l1", Title: "T", To: "ARIA", Reason: "Critical issue", Priority: operational.PriorityCritical,
		Status: operational.EscalationPending, Occurrences: 1, CreatedAt: noon, SourceAgent: "mallory",
	}}
}

func (h *houseEscalations) List(_ context.Context, f operational.EscalationFilter) ([]operational.Escalation, error) {
	if f.To != "" && f.To != h.e.To || len(f.Status) != 1 || f.Status[0] != h.e.Status {
		return nil, nil
	}
	return []operational.Escalation{h.e}, nil
}

func (h *houseEscalations) settle(status operational.EscalationStatus, verdict operational.EscalationVerdict) (operational.Escalation, error) {
	h.e.Status, h.e.ResolvedBy, h.e.Notes = status, verdict.By, verdict.Notes
	return h.e, nil
}

func (h *houseEscalations) Review(_ context.Context, _ string, v operational.EscalationVerdict) (operational.Escalation, error) {
	return h.settle(operational.EscalationReviewed, v)
}

func (h *houseEscalations) Resolve(_ context.Context, _ string, v operational.EscalationVerdict) (operational.Escalation, error) {
	return h.settle(operational.EscalationResolved, v)
}

func (h *houseEscalations) Dismiss(_ context.Context, _ string, v operational.EscalationVerdict) (operational.Escalation, error) {
	return h.settle(operational.EscalationDismissed, v)
}
