package app

import (
	"context"
	"fmt"

	"skillrouter/learning"
	"skillrouter/learning/guard/rule"
	"skillrouter/learning/history"
	"skillrouter/router/httpapi"
	"skillrouter/router/value"
)

// wireIncidents serves what fails in projects.
func (a *App) wireIncidents(_ context.Context, p *parts) error {
	p.incidents.VouchedOnly(a.config.TellVouched)
	p.routes = append(p.routes, httpapi.Offer[history.Service](history.Operations.Incidents, toldIncidents{p.incidents, p.tellings, p.value, a.log}), httpapi.Offer[value.Service](value.Operations, p.value))
	return nil
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
