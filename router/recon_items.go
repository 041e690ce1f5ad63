package router

import (
	"strings"

	"skillrouter/operational"
)

func findingItem(f operational.Finding, score float64) Item {
	fields := map[string]any{
		"environment": f.Environment, "severity": f.Severity, "status": f.Status, "occurrences": f.Occurrences,
		"first_seen": f.FirstSeen, "last_seen": f.LastSeen,
	}
	addTexts(fields, "cve", f.CVE, "location", f.Location, "evidence", f.Evidence, "remediation", f.Remediation, "scan_id", f.ScanID)
	return Item{Kind: "finding", ID: f.ID, Title: f.Title, Content: f.Description, Score: score, Project: f.Project, At: f.LastSeen, Fields: fields}
}

func scanItem(s operational.Scan) Item {
	fields := map[string]any{"environment": s.Environment, "scanner": s.Scanner, "status": s.Status}
	if s.FinishedAt != nil {
		fields["finished_at"] = *s.FinishedAt
	}
	return Item{Kind: "scan", ID: s.ID, Title: s.Scanner + " of " + s.Environment, Content: s.Summary, Score: 1, AgentID: s.AgentID, At: s.StartedAt, Fields: fields}
}

// FindingPhrase names a finding with its severity and where it is.
func FindingPhrase(f operational.Finding) string {
	s := shorten(f.Title)
	if f.CVE != "" && !strings.Contains(f.Title, f.CVE) {
		s = f.CVE + " " + s
	}
	s += " [" + string(f.Severity)
	if f.Status != operational.FindingOpen {
		s += ", " + strings.ReplaceAll(string(f.Status), "_", " ")
	}
	s += "]"
	if f.Location != "" {
		s += " at " + shorten(f.Location)
	}
	return s
}
