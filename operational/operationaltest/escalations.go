package operationaltest

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/operational"
)

// EscalationWorld is a World in which escalations can be raised, as the router does it itself.
type EscalationWorld struct {
	World[operational.EscalationService]
	Raise func(t *testing.T, drafts ...operational.EscalationDraft)
}

// escalated is what a critical lesson would be raised as.
func escalated(lesson, to, reason string, priority operational.EscalationPriority) operational.EscalationDraft {
	return operational.EscalationDraft{
		LessonID: lesson, Title: "Lesson " + lesson, Domain: "docker", SourceAgent: "CHRONOS", To: to, Reasons: []string{reason}, Priority: priority,
	}
}

// Escalations is the contract of operational.EscalationService.
func Escalations(t *testing.T, open func(t *testing.T) EscalationWorld) {
	const high, critical = operational.PriorityHigh, operational.PriorityCritical
	t.Run("raised, listed, settled", func(t *testing.T) {
		w := open(t)
		ctx := w.Context(t.Context(), captain)
		svc := w.As(captain)
		w.Raise(t, escalated("l1", "ARIA", "Critical issue", high), escalated("l2", "ARIA", "Critical issue", critical), escalated("l1", "VARYS", "Launch impact", high))
		w.Raise(t, escalated("l1", "ARIA", "Critical issue", critical))
		list := must[[]operational.Escalation](t)(svc.List(ctx, operational.EscalationFilter{To: "ARIA", Status: []operational.EscalationStatus{operational.EscalationPending}}))
		if len(list) != 2 || list[0].LessonID != "l2" || list[1].LessonID != "l1" {
			t.Fatalf("the list is %+v", list)
		}
		first := list[1]
		if first.Occurrences != 2 || first.Priority != critical || first.Status != operational.EscalationPending || first.ResolvedAt != nil || first.Title != "Lesson l1" {
			t.Errorf("raised twice it is %+v", first)
		}
		reviewed := must[operational.Escalation](t)(svc.Review(ctx, first.ID, operational.EscalationVerdict{By: "Damon W.", Notes: "looking"}))
		if reviewed.Status != operational.EscalationReviewed || reviewed.ReviewedBy != "Damon W." || reviewed.ReviewedAt == nil || reviewed.ReviewNotes != "looking" {
			t.Errorf("reviewed it is %+v", reviewed)
		}
		w.Raise(t, escalated("l1", "ARIA", "Critical issue", high))
		resolved := must[operational.Escalation](t)(svc.Resolve(ctx, first.ID, operational.EscalationVerdict{Notes: "mended"}))
		if resolved.Status != operational.EscalationResolved || resolved.ResolvedBy != "captain" || resolved.ResolvedAt == nil || resolved.Notes != "mended" || resolved.Occurrences != 3 {
			t.Errorf("resolved it is %+v", resolved)
		}
		one := must[operational.Escalation](t)(svc.Escalation(ctx, first.ID))
		steps := []operational.EscalationStatus{}
		for _, h := range one.History {
			steps = append(steps, h.To)
		}
		if !slices.Equal(steps, []operational.EscalationStatus{operational.EscalationPending, operational.EscalationReviewed, operational.EscalationResolved}) {
			t.Errorf("its history is %+v", one.History)
		}
	})
	t.Run("recurs after it was resolved, and not after it was dismissed", func(t *testing.T) {
		w := open(t)
		ctx := w.Context(t.Context(), captain)
		svc := w.As(captain)
		draft := escalated("l1", "ARIA", "Critical issue", high)
		w.Raise(t, draft)
		all := func() []operational.Escalation {
			return must[[]operational.Escalation](t)(svc.List(ctx, operational.EscalationFilter{}))
		}
		must[operational.Escalation](t)(svc.Resolve(ctx, all()[0].ID, operational.EscalationVerdict{}))
		w.Raise(t, draft)
		list := all()
		if len(list) != 2 || list[0].Status != operational.EscalationPending || list[0].Occurrences != 1 {
			t.Fatalf("a resolved matter that recurs: %+v", list)
		}
		must[operational.Escalation](t)(svc.Dismiss(ctx, list[0].ID, operational.EscalationVerdict{Notes: "noise"}))
		w.Raise(t, draft, draft)
		list = all()
		if len(list) != 2 || list[0].Status != operational.EscalationDismissed || list[0].Occurrences != 3 {
			t.Fatalf("a dismissed matter that recurs: %+v", list)
		}
		both := escalated("l1", "ARIA", "Recurring issue", high)
		both.Reasons = append(both.Reasons, draft.Reasons...)
		w.Raise(t, both)
		if list = all(); len(list) != 3 || list[0].Reason != "Recurring issue" || list[0].Status != operational.EscalationPending {
			t.Errorf("another reason than the dismissed one is raised alone: %+v", list)
		}
	})
	t.Run("a lesson is one escalation to one agent, with every reason", func(t *testing.T) {
		w := open(t)
		draft := escalated("l1", "ARIA", "Critical issue", high)
		draft.Reasons = append(draft.Reasons, "New anti-pattern", "Critical issue")
		w.Raise(t, draft)
		w.Raise(t, escalated("l1", "ARIA", "Recurring issue", critical), escalated("l1", "ARIA", "Critical", high), escalated("l1", "VARYS", "Launch impact", high))
		list := must[[]operational.Escalation](t)(w.As(captain).List(w.Context(t.Context(), captain), operational.EscalationFilter{To: "ARIA"}))
		if len(list) != 1 || list[0].Reason != "Critical issue; New anti-pattern; Recurring issue; Critical" || list[0].Occurrences != 3 || list[0].Priority != critical {
			t.Errorf("%+v", list)
		}
		for i := range 9 {
			w.Raise(t, escalated("l1", "ARIA", strings.Repeat(string(rune('a'+i)), 200), high))
		}
		list = must[[]operational.Escalation](t)(w.As(captain).List(w.Context(t.Context(), captain), operational.EscalationFilter{To: "ARIA"}))
		if len(list) != 1 || len(list[0].Reason) > 1000 || list[0].Occurrences != 12 {
			t.Errorf("after very long reasons: %+v", list)
		}
	})
	t.Run("who may settle", func(t *testing.T) {
		w := open(t)
		w.Raise(t, escalated("l1", "ARIA", "Critical issue", high), escalated("l2", "ARIA", "Critical issue", high))
		list := must[[]operational.Escalation](t)(w.As(onlooker).List(w.Context(t.Context(), onlooker), operational.EscalationFilter{}))
		if len(list) != 2 {
			t.Fatalf("an onlooker sees %+v", list)
		}
		id := list[0].ID
		for _, p := range []principal.Principal{onlooker, agent("VARYS")} {
			refuses(t, errs.Forbidden)(w.As(p).Resolve(w.Context(t.Context(), p), id, operational.EscalationVerdict{}))
		}
		aria := agent("ARIA")
		refuses(t, errs.Forbidden)(w.As(aria).Resolve(w.Context(t.Context(), aria), id, operational.EscalationVerdict{By: "VARYS"}))
		done := must[operational.Escalation](t)(w.As(aria).Resolve(w.Context(t.Context(), aria), id, operational.EscalationVerdict{}))
		if done.ResolvedBy != "ARIA" {
			t.Errorf("it was resolved by %q", done.ResolvedBy)
		}
	})
	t.Run("refusals", func(t *testing.T) {
		w := open(t)
		ctx := w.Context(t.Context(), captain)
		svc := w.As(captain)
		w.Raise(t, escalated("l1", "ARIA", "Critical issue", high))
		list := must[[]operational.Escalation](t)(svc.List(ctx, operational.EscalationFilter{}))
		refuses(t, errs.NotFound)(svc.Escalation(ctx, "no-such-id"))
		refuses(t, errs.NotFound)(svc.Dismiss(ctx, "no-such-id", operational.EscalationVerdict{}))
		refuses(t, errs.TooLarge)(svc.Review(ctx, list[0].ID, operational.EscalationVerdict{Notes: strings.Repeat("n", operational.MaxEscalationNotes+1)}))
		refuses(t, errs.Invalid)(svc.Review(ctx, list[0].ID, operational.EscalationVerdict{By: "a\nb"}))
		refuses(t, errs.Invalid)(svc.List(ctx, operational.EscalationFilter{Status: []operational.EscalationStatus{"open"}}))
		refuses(t, errs.Invalid)(svc.List(ctx, operational.EscalationFilter{To: "no id"}))
		refuses(t, errs.Invalid)(svc.List(ctx, operational.EscalationFilter{Limit: operational.MaxLimit + 1}))
	})
	t.Run("every step from every status", func(t *testing.T) { escalationSteps(t, open(t)) })
}

// escalationSteps takes random steps: a settled escalation stays as it is, and the history has each step once.
func escalationSteps(t *testing.T, w EscalationWorld) {
	ctx := w.Context(t.Context(), captain)
	svc := w.As(captain)
	verbs := map[operational.EscalationStatus]func(id string) (operational.Escalation, error){
		operational.EscalationReviewed: func(id string) (operational.Escalation, error) {
			return svc.Review(ctx, id, operational.EscalationVerdict{})
		},
		operational.EscalationResolved: func(id string) (operational.Escalation, error) {
			return svc.Resolve(ctx, id, operational.EscalationVerdict{})
		},
		operational.EscalationDismissed: func(id string) (operational.Escalation, error) {
			return svc.Dismiss(ctx, id, operational.EscalationVerdict{})
		},
	}
	lesson := 0
	rapid.Check(t, func(r *rapid.T) {
		lesson++
		name := "lesson-" + strings.Repeat("x", lesson)
		w.Raise(t, escalated(name, "ARIA", "Critical issue", operational.PriorityHigh))
		list, err := svc.List(ctx, operational.EscalationFilter{Status: []operational.EscalationStatus{operational.EscalationPending}, Limit: 1})
		if err != nil || len(list) != 1 {
			r.Fatalf("%+v, %v", list, err)
		}
		id, status, steps := list[0].ID, operational.EscalationPending, 1
		for _, to := range append(rapid.SliceOfN(rapid.SampledFrom(operational.EscalationStatuses()[1:]), 0, 4).Draw(r, "steps"), operational.EscalationDismissed) {
			got, err := verbs[to](id)
			settled := !status.Open()
			switch {
			case to == status: // taken already
				if err != nil {
					r.Fatalf("%s again: %v", to, err)
				}
			case settled || to == operational.EscalationPending:
				if errs.CodeOf(err) != errs.Conflict {
					r.Fatalf("from %s to %s: %v", status, to, err)
				}
			case err != nil:
				r.Fatalf("from %s to %s: %v", status, to, err)
			default:
				status = to
				steps++
			}
			if err == nil && got.Status != status {
				r.Fatalf("it is %s instead of %s", got.Status, status)
			}
		}
		one, err := svc.Escalation(ctx, id)
		if err != nil || one.Status != status || len(one.History) != steps {
			r.Fatalf("in the end it is %+v, want %s after %d steps, %v", one, status, steps, err)
		}
	})
}
