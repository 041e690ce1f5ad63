package mcpserver

import (
	"context"
	"fmt"
	"time"

	"skillrouter/operational"
)

type reportFinding struct {
	Environment string               `json:"environment"`
	ScanID      string               `json:"scan_id"`
	CVE         string               `json:"cve"`
	Title       string               `json:"title"`
	Description string               `json:"description"`
	Severity    operational.Severity `json:"severity"`
	Location    string               `json:"location"`
	Evidence    string               `json:"evidence"`
	Remediation string               `json:"remediation"`
}

type reportFindings struct {
	Findings []operational.FindingDraft `json:"findings"`
}

type listFindings struct {
	Environment string                      `json:"environment"`
	Project     string                      `json:"project"`
	Severity    []operational.Severity      `json:"severity"`
	Status      []operational.FindingStatus `json:"status"`
	CVE         string                      `json:"cve"`
	ScanID      string                      `json:"scan_id"`
	Text        string                      `json:"text"`
	Location    string                      `json:"location"`
	Limit       int                         `json:"limit"`
}

type findingRef struct {
	FindingID string `json:"finding_id"`
}

type decideFinding struct {
	FindingID string                    `json:"finding_id"`
	Status    operational.FindingStatus `json:"status"`
	Note      string                    `json:"note"`
}

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
	id := required(text("finding_id", ""))
	add(s, tool{
		name: "report_finding", title: "Report a finding", set: ToolsetOperations, effect: ensure,
		description: "Record what a scan or you found. The same one again counts as seen again, and opens it if it was fixed.",
		input: arguments(
			required(text("environment", "")),
			required(oneOf("severity", "", operational.Severities()...)),
			text("title", "Default: the CVE"),
			text("cve", ""),
			text("location", "file:line, URL, host:port or package@version"),
			text("description", ""),
			text("evidence", ""),
			text("remediation", ""),
			text("scan_id", ""),
		),
		output: holds("id", "status", "new", "reopened"),
	}, s.reportFinding)
	add(s, tool{
		name: "report_findings", title: "Report many findings", set: ToolsetOperations, effect: ensure,
		description: "Record the findings of a scan together, each as report_finding takes it; bad ones are refused by their place.",
		input:       arguments(required(arrayOf("findings", "object", ""))), output: holds("new", "seen_again", "reopened", "ids", "refused"),
	}, s.reportFindings)
	add(s, tool{
		name: "list_findings", title: "List findings", set: ToolsetOperations, effect: reads,
		description: "What scans found, the worst first, then the latest seen; with counts by severity and status.",
		input: arguments(
			text("environment", ""),
			text("project", ""),
			severalOf("severity", "", operational.Severities()...),
			severalOf("status", "", operational.FindingStatuses()...),
			text("cve", ""),
			text("scan_id", ""),
			text("text", "Words that it holds"),
			text("location", "Part of it"),
			integer("limit", "Default 100", 1, operational.MaxLimit),
		),
		output: holds("findings", "summary"),
	}, s.listFindings)
	add(s, tool{
		name: "get_finding", title: "One finding", set: ToolsetOperations, effect: reads,
		description: "Everything about a finding, with its history.",
		input:       arguments(id), output: holds("finding"),
	}, s.getFinding)
	add(s, tool{
		name: "decide_finding", title: "Decide on a finding", set: ToolsetOperations, effect: adds,
		description: "Set a finding's status.",
		input:       arguments(id, required(oneOf("status", "", operational.FindingStatuses()...)), text("note", "Why")),
		output:      holds("finding"),
	}, s.decideFinding)
}

func (s *Server) reportFinding(ctx context.Context, in reportFinding) (reply[operational.Reported], error) {
	reported, err := s.services.Recon.Report(ctx, operational.FindingDraft{
		Environment: in.Environment, ScanID: in.ScanID, CVE: in.CVE, Title: in.Title, Description: in.Description, Severity: in.Severity,
		Location: in.Location, Evidence: in.Evidence, Remediation: in.Remediation, AgentID: s.actor(ctx, ""),
	})
	if err != nil {
		return reply[operational.Reported]{}, err
	}
	said := fmt.Sprintf("Recorded as %s.", visible(reported.ID))
	switch {
	case reported.Reopened:
		said = fmt.Sprintf("Known as %s: it had been fixed, and is open again.", visible(reported.ID))
	case !reported.New:
		said = fmt.Sprintf("Known as %s: seen %d times now.", visible(reported.ID), reported.Occurrences)
	}
	return reply[operational.Reported]{reported, said}, nil
}

func (s *Server) reportFindings(ctx context.Context, in reportFindings) (reply[operational.FindingReport], error) {
	for i := range in.Findings {
		if in.Findings[i].AgentID == "" {
			in.Findings[i].AgentID = s.actor(ctx, "")
		}
	}
	report, err := s.services.Recon.ReportAll(ctx, in.Findings)
	if err != nil {
		return reply[operational.FindingReport]{}, err
	}
	return reply[operational.FindingReport]{report, fmt.Sprintf("%d new, %d seen again, %d of them opened again, %d refused.",
		report.New, report.SeenAgain, report.Reopened, len(report.Refused))}, nil
}

func (s *Server) listFindings(ctx context.Context, in listFindings) (reply[findings], error) {
	filter := operational.FindingFilter{
		Environment: in.Environment, Project: in.Project, Severity: in.Severity, Status: in.Status, CVE: in.CVE, ScanID: in.ScanID,
		Text: in.Text, Location: in.Location, Limit: in.Limit,
	}
	found, err := s.services.Recon.Findings(ctx, filter)
	if err != nil {
		return reply[findings]{}, err
	}
	summary, err := s.services.Recon.Summary(ctx, filter)
	if err != nil {
		return reply[findings]{}, err
	}
	out := findings{Findings: append([]operational.Finding{}, found...), Summary: summary}
	if len(found) == 0 {
		return reply[findings]{out, "No finding fits."}, nil
	}
	out.Notice = notice
	f := newFence("%s of %d, %d of them active.", count(len(found), "finding", "findings"), summary.Total, summary.Active)
	f.addFindings(out.Findings)
	return reply[findings]{out, f.String()}, nil
}

func (s *Server) getFinding(ctx context.Context, in findingRef) (reply[oneFinding], error) {
	found, err := s.services.Recon.Finding(ctx, in.FindingID)
	if err != nil {
		return reply[oneFinding]{}, err
	}
	history, err := s.services.Recon.History(ctx, found.ID)
	if err != nil {
		return reply[oneFinding]{}, err
	}
	answer := shownFinding(found)
	answer.out.History = history
	return answer, nil
}

func (s *Server) decideFinding(ctx context.Context, in decideFinding) (reply[oneFinding], error) {
	found, err := s.services.Recon.Decide(ctx, in.FindingID, operational.FindingDecision{Status: in.Status, Note: in.Note, AgentID: s.actor(ctx, "")})
	if err != nil {
		return reply[oneFinding]{}, err
	}
	return shownFinding(found), nil
}

func shownFinding(found operational.Finding) reply[oneFinding] {
	f := newFence("The finding is %s.", found.Status)
	shown := []operational.Finding{found}
	f.addFindings(shown)
	return reply[oneFinding]{oneFinding{Finding: shown[0], Notice: notice}, f.String()}
}

// addFindings shortens the findings to what an answer may hold and appends them.
func (f *fence) addFindings(list []operational.Finding) {
	items := make([][]*string, len(list))
	for i := range list {
		x := &list[i]
		items[i] = []*string{&x.Title, &x.Location, &x.Remediation, &x.Description, &x.Evidence}
	}
	left := fitTexts(items)
	f.explain()
	for i, x := range list {
		f.add(fmt.Sprintf("%d. %s, %s, seen %d×, last %s", i+1, x.Severity, x.Status, x.Occurrences, x.LastSeen.UTC().Format(time.RFC3339)),
			attributes("id", x.ID, "environment", x.Environment, "cve", x.CVE, "location", x.Location, "project", x.Project),
			x.Title, x.Description, part("Evidence", x.Evidence), part("Remediation", x.Remediation), cutNote(left[i]))
	}
}
