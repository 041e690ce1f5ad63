package mcpserver

import (
	"context"

	"github.com/skillrouter/skillrouter/operational"
)

type findings struct {
	Findings []operational.Finding      `json:"findings"`
	Summary  operational.FindingSummary `json:"summary"` // of all that fit, whatever the limit
}

type oneFinding struct {
	Finding operational.Finding         `json:"finding"`
	History []operational.FindingChange `json:"history,omitempty"`
}

// reconTools are what is scanned, the scans and what they found.
func reconTools() []tool {
	return []tool{
		{name: "store_environment", title: "Store an environment", effect: ensure, as: "environment", does: operational.ReconService.StoreEnvironment, takes: "name! kind description project"},
		{name: "list_environments", title: "List environments", effect: reads, as: "environments", does: operational.ReconService.Environments, takes: "project", none: "No environment is known"},
		{name: "start_scan", title: "Start a scan", effect: adds, as: "scan", does: operational.ReconService.StartScan, takes: "environment! scanner! status summary"},
		{name: "finish_scan", title: "Finish a scan", effect: adds, as: "scan", does: operational.ReconService.FinishScan, takes: "scan_id! status summary"},
		{name: "list_scans", title: "List scans", effect: reads, as: "scans", does: operational.ReconService.Scans, takes: "environment project status limit"},
		{
			name: "report_finding", title: "Report a finding", effect: ensure, holds: "id status new reopened",
			does: operational.ReconService.Report, takes: "environment! severity! title cve location description evidence remediation scan_id",
		},
		{
			name: "report_findings", title: "Report many findings", effect: ensure, holds: "new seen_again reopened ids refused",
			description: "Record the findings of a scan together, each as report_finding takes it; bad ones are refused by their place.",
			does:        (*Server).reportFindings, takes: "findings!",
		},
		{
			name: "list_findings", title: "List findings", effect: reads, holds: "findings summary",
			description: "What scans found, the worst first, then the latest seen; with counts by severity and status.",
			does:        (*Server).findings, takes: "environment project severity status cve scan_id text location limit", none: "No finding fits",
		},
		{
			name: "get_finding", title: "One finding", effect: reads, holds: "finding",
			description: "Everything about a finding, with its history.",
			does:        (*Server).finding, takes: "finding_id!",
			resource: &resource{template: "findings://{id}", name: "finding", description: "What a scan found", arguments: []string{"finding_id"}},
		},
		{name: "decide_finding", title: "Decide on a finding", effect: adds, as: "finding", does: operational.ReconService.Decide, takes: "finding_id! status! note"},
	}
}

// reportFindings reports what does not say who found it as the caller's.
func (s *Server) reportFindings(ctx context.Context, list []operational.FindingDraft) (operational.FindingReport, error) {
	for i := range list {
		list[i].AgentID = s.actor(ctx, list[i].AgentID)
	}
	return s.services.Recon.ReportAll(ctx, list)
}

func (s *Server) findings(ctx context.Context, filter operational.FindingFilter) (out findings, err error) {
	if out.Findings, err = s.services.Recon.Findings(ctx, filter); err == nil {
		out.Summary, err = s.services.Recon.Summary(ctx, filter)
	}
	return out, err
}

func (s *Server) finding(ctx context.Context, id string) (out oneFinding, err error) {
	if out.Finding, err = s.services.Recon.Finding(ctx, id); err == nil {
		out.History, err = s.services.Recon.History(ctx, out.Finding.ID)
	}
	return out, err
}
