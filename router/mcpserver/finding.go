package mcpserver

import (
	"context"
	"fmt"
	"time"

	"skillrouter/operational"
)

type findings struct {
	Findings []operational.Finding      `json:"findings"`
	Summary  operational.FindingSummary `json:"summary"` // of all that fit, whatever the limit
	Notice   string                     `json:"notice,omitempty"`
}

type oneFinding struct {
	Finding operational.Finding         `json:"finding"`
	History []operational.FindingChange `json:"history,omitempty"`
	Notice  string                      `json:"notice"`
}

// addFindingTools offers what scans found.
func (s *Server) addFindingTools() {
	add(s, tool{
		name: "report_finding", title: "Report a finding", set: ToolsetOperations, effect: ensure, holds: "id status new reopened",
		description: "Record what a scan or you found. The same one again counts as seen again, and opens it if it was fixed.",
	}, described[operational.FindingDraft]("environment!", "severity!", "title", "cve", "location", "description", "evidence", "remediation", "scan_id"), then(s.services.Recon.Report, func(r operational.Reported) (operational.Reported, string) {
		switch {
		case r.Reopened:
			return r, fmt.Sprintf("Known as %s: it had been fixed, and is open again.", visible(r.ID))
		case !r.New:
			return r, fmt.Sprintf("Known as %s: seen %d times now.", visible(r.ID), r.Occurrences)
		}
		return r, fmt.Sprintf("Recorded as %s.", visible(r.ID))
	}))
	add(s, tool{
		name: "report_findings", title: "Report many findings", set: ToolsetOperations, effect: ensure, holds: "new seen_again reopened ids refused",
		description: "Record the findings of a scan together, each as report_finding takes it; bad ones are refused by their place.",
	}, func(p *params, list *[]operational.FindingDraft) { p.must("findings", list, "") }, then(s.reportFindings, func(r operational.FindingReport) (operational.FindingReport, string) {
		return r, fmt.Sprintf("%d new, %d seen again, %d of them opened again, %d refused.", r.New, r.SeenAgain, r.Reopened, len(r.Refused))
	}))
	add(s, tool{
		name: "list_findings", title: "List findings", set: ToolsetOperations, effect: reads, holds: "findings summary",
		description: "What scans found, the worst first, then the latest seen; with counts by severity and status.",
	}, described[operational.FindingFilter]("environment", "project", "severity", "status", "cve", "scan_id", "text", "location", "limit"), then(s.findings, func(out findings) (findings, string) {
		f := listing(out.Findings, &out.Notice, findingEntry, "No finding fits.", "%s of %d, %d of them active.",
			count(len(out.Findings), "finding", "findings"), out.Summary.Total, out.Summary.Active)
		return out, f.String()
	}))
	add(s, tool{
		name: "get_finding", title: "One finding", set: ToolsetOperations, effect: reads, holds: "finding",
		description: "Everything about a finding, with its history.",
		resource:    &resource{template: "findings://{id}", name: "finding", description: "What a scan found", arguments: []string{"finding_id"}},
	}, func(p *params, id *string) { p.must("finding_id", id, "") }, func(ctx context.Context, id string) (out oneFinding, text string, err error) {
		found, err := s.services.Recon.Finding(ctx, id)
		if err != nil {
			return out, "", err
		}
		out, text = shownFinding(found)
		out.History, err = s.services.Recon.History(ctx, found.ID)
		return out, text, err
	})
	add(s, tool{
		name: "decide_finding", title: "Decide on a finding", set: ToolsetOperations, effect: adds, holds: "finding",
		description: "Set a finding's status.",
	}, describedOne[string, operational.FindingDecision]("finding_id!", "", "status!", "note"), then(changing(s.services.Recon.Decide), shownFinding))
}

// reportFindings reports what does not say who found it as the caller's.
func (s *Server) reportFindings(ctx context.Context, list []operational.FindingDraft) (operational.FindingReport, error) {
	for i := range list {
		list[i].AgentID = s.actor(ctx, list[i].AgentID)
	}
	return s.services.Recon.ReportAll(ctx, list)
}

func (s *Server) findings(ctx context.Context, filter operational.FindingFilter) (out findings, err error) {
	found, err := s.services.Recon.Findings(ctx, filter)
	if err != nil {
		return out, err
	}
	out.Findings = owned(found)
	out.Summary, err = s.services.Recon.Summary(ctx, filter)
	return out, err
}

func shownFinding(found operational.Finding) (oneFinding, string) {
	out := oneFinding{Finding: found, Notice: notice}
	text := alone(&out.Finding, findingEntry, "The finding is %s.", found.Status)
	return out, text
}

func findingEntry(x *operational.Finding) entry {
	return entry{[]*string{&x.Title, &x.Location, &x.Remediation, &x.Description, &x.Evidence}, func(cut int) (string, []string) {
		return fmt.Sprintf("%s, %s, seen %d×, last %s", x.Severity, x.Status, x.Occurrences, x.LastSeen.UTC().Format(time.RFC3339)), []string{
			attributes("id", x.ID, "environment", x.Environment, "cve", x.CVE, "location", x.Location, "project", x.Project),
			x.Title, x.Description, part("Evidence", x.Evidence), part("Remediation", x.Remediation), cutNote(cut),
		}
	}}
}
