package app

import (
	"context"
	"fmt"

	"skillrouter/internal/errs"
	"skillrouter/learning"
	"skillrouter/learning/guard/rule"
	"skillrouter/learning/history"
	"skillrouter/learning/lesson"
	"skillrouter/router/httpapi"
)

// wireIncidents serves what fails in projects.
func (a *App) wireIncidents(_ context.Context, p *parts) error {
	p.incidents.TeachTo(team{p.lessons})
	p.incidents.VouchedOnly(a.config.TellVouched)
	p.routes = append(p.routes, httpapi.Incidents(toldIncidents{p.incidents, p.tellings, p.value, a.log}), httpapi.Value(p.value))
	return nil
}

// team keeps accepted incidents as lessons.
type team struct{ lessons lesson.Service }

// incidentDomain is the domain of lessons that accepted incidents are.
const incidentDomain = "commands"

// Teach implements history.Team.
func (t team) Teach(ctx context.Context, l history.Lesson) (id string, err error) {
	if l.ID != "" {
		now, err := t.lessons.Lesson(ctx, l.ID)
		if errs.CodeOf(err) == errs.NotFound || now.Status == lesson.StatusRetired || now.Solution == l.Solution {
			return l.ID, nil // somebody else took it out of use, or it says so
		}
		if err == nil {
			_, err = t.lessons.Edit(ctx, l.ID, lesson.Patch{Solution: &l.Solution})
		}
		return l.ID, err
	}
	draft := lesson.Draft{
		Type: learning.LessonWorkaround, Domain: incidentDomain, Category: history.LessonCategory, Title: l.Title, Context: l.Context, Action: l.Action, Outcome: l.Outcome,
		Solution: l.Solution, Project: l.Project, SourceAgent: l.By,
	}
	reported, err := t.lessons.Report(ctx, draft)
	return reported.LessonID, err
}

// Withdraw implements history.Team.
func (t team) Withdraw(ctx context.Context, id string) error {
	_, err := t.lessons.Retire(ctx, id, lesson.RetirementDraft{Reason: "the incident that it was made of is accepted no more or was forgotten, or nothing works for it now"})
	if code := errs.CodeOf(err); code == errs.NotFound || code == errs.Conflict {
		return nil // somebody else took it out of use
	}
	return err
}

// failedBefore gives the guard what failed before as matches.
func failedBefore(incidents *history.Incidents) func(project, command string) []rule.Match {
	return func(project, command string) []rule.Match {
		w := incidents.Warn(project, command)
		if w == nil {
			return nil
		}
		reason := fmt.Sprintf("%s failed in %d of %d uses", w.Feature, w.Failures, w.Uses)
		if by := w.By(); by != "" {
			reason += "; what worked was " + by
		}
		return []rule.Match{{
			RuleID: w.Incident.ID, Title: "This fails here: " + w.Incident.Example, Severity: learning.SeverityLow, Lane: rule.LaneIncident,
			Reason:       reason,
			Alternatives: w.Alternatives(), Confidence: float64(w.Failures) / float64(w.Uses),
		}}
	}
}
