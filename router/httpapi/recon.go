package httpapi

import (
	"context"

	"skillrouter/operational"
)

// EnvironmentList is the answer of GET /api/recon/environments.
type EnvironmentList struct {
	Environments []operational.Environment `json:"environments"`
	Count        int                       `json:"count"`
}

// ScanList is the answer of GET /api/recon/scans.
type ScanList struct {
	Scans []operational.Scan `json:"scans"`
	Count int                `json:"count"`
}

// FindingList is the answer of GET /api/recon/findings.
type FindingList struct {
	Findings []operational.Finding `json:"findings"`
	Count    int                   `json:"count" doc:"How many are in this answer; the summary counts all"`
}

// FindingHistory is the answer of GET /api/recon/findings/{id}/history.
type FindingHistory struct {
	Changes []operational.FindingChange `json:"changes"`
	Count   int                         `json:"count"`
}

func (s *Server) reconRoutes(recon operational.ReconService) {
	at := s.at("recon", "/api/recon")
	at.post("/environments", "Add an environment, or change the one of that name", sent(recon.StoreEnvironment))
	at.get("/environments", "List environments by name", typed(func(ctx context.Context, in *struct {
		Project string `query:"project"`
	},
	) (EnvironmentList, error) {
		list, err := recon.Environments(ctx, in.Project)
		return EnvironmentList{list, len(list)}, err
	}))
	at.post("/scans", "Record a scan; its environment is added if it is not known", created(sent(recon.StartScan)))
	at.get("/scans", "List scans, the latest first",
		asked(as(recon.Scans, func(list []operational.Scan) ScanList { return ScanList{list, len(list)} })))
	at.post("/scans/{id}/finish", "End a running scan", changed(recon.FinishScan))

	at.post("/findings", "Report a finding; a known one is counted, and open again if it had been fixed",
		createdIf(sent(recon.Report), func(r operational.Reported) bool { return r.New }))
	at.post("/findings/bulk", "Report up to 1000 findings; bad ones are refused by their place", sent(recon.ReportAll))
	at.get("/findings", "List findings, the worst first, then the latest seen",
		asked(as(recon.Findings, func(list []operational.Finding) FindingList { return FindingList{list, len(list)} })))
	at.get("/findings/{id}", "One finding", named(recon.Finding))
	at.post("/findings/{id}/status", "Decide about a finding: open, confirmed, fixed, accepted, false_positive", changed(recon.Decide))
	at.get("/findings/{id}/history", "What was decided about a finding, the oldest first",
		named(as(recon.History, func(list []operational.FindingChange) FindingHistory { return FindingHistory{list, len(list)} })))
	at.get("/summary", "Count findings by severity, status and environment", asked(recon.Summary))
}
