package app

import (
	"context"
	"fmt"

	"skillrouter/learning"
	"skillrouter/learning/guard/rule"
	"skillrouter/learning/incident"
	"skillrouter/router/httpapi"
)

// wireIncidents serves what fails in projects.
func (a *App) wireIncidents(_ context.Context, p *parts) error {
	p.routes = append(p.routes, httpapi.Incidents(p.incidents))
	return nil
}

// failedBefore gives the guard what failed before as matches.
func failedBefore(incidents *incident.Incidents) func(project, command string) []rule.Match {
	return func(project, command string) []rule.Match {
		w := incidents.Warn(project, command)
		if w == nil {
			return nil
		}
		return []rule.Match{{
			RuleID: w.Incident.ID, Title: "This fails here: " + w.Incident.Example, Severity: learning.SeverityLow, Lane: rule.LaneIncident,
			Reason:       fmt.Sprintf("%s failed in %d of %d uses", w.Feature, w.Failures, w.Uses),
			Alternatives: w.Alternatives(), Confidence: float64(w.Failures) / float64(w.Uses),
		}}
	}
}
