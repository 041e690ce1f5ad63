package client

import (
	"context"
	"net/http"

	"skillrouter/operational"
)

// Recon is operational.ReconService over HTTP.
type Recon struct{ c *Client }

var _ operational.ReconService = Recon{}

// StoreEnvironment implements operational.ReconService.
func (r Recon) StoreEnvironment(ctx context.Context, draft operational.EnvironmentDraft) (operational.Environment, error) {
	return call[operational.Environment](ctx, r.c, http.MethodPost, at("/api/recon/environments"), draft)
}

// Environments implements operational.ReconService.
func (r Recon) Environments(ctx context.Context, project string) ([]operational.Environment, error) {
	return list[operational.Environment](ctx, r.c, at("/api/recon/environments").and("project", project), "environments")
}

// StartScan implements operational.ReconService.
func (r Recon) StartScan(ctx context.Context, draft operational.ScanDraft) (operational.Scan, error) {
	return call[operational.Scan](ctx, r.c, http.MethodPost, at("/api/recon/scans"), draft)
}

// FinishScan implements operational.ReconService.
func (r Recon) FinishScan(ctx context.Context, id string, end operational.ScanEnd) (operational.Scan, error) {
	return call[operational.Scan](ctx, r.c, http.MethodPost, at("/api/recon/scans/{id}/finish", id), end)
}

// Scans implements operational.ReconService.
func (r Recon) Scans(ctx context.Context, f operational.ScanFilter) ([]operational.Scan, error) {
	return list[operational.Scan](ctx, r.c, at("/api/recon/scans").with(f), "scans")
}

// Report implements operational.ReconService.
func (r Recon) Report(ctx context.Context, draft operational.FindingDraft) (operational.Reported, error) {
	return call[operational.Reported](ctx, r.c, http.MethodPost, at("/api/recon/findings"), draft)
}

// ReportAll implements operational.ReconService.
func (r Recon) ReportAll(ctx context.Context, drafts []operational.FindingDraft) (operational.FindingReport, error) {
	if drafts == nil {
		drafts = []operational.FindingDraft{}
	}
	return call[operational.FindingReport](ctx, r.c, http.MethodPost, at("/api/recon/findings/bulk"), drafts)
}

// Finding implements operational.ReconService.
func (r Recon) Finding(ctx context.Context, id string) (operational.Finding, error) {
	return call[operational.Finding](ctx, r.c, http.MethodGet, at("/api/recon/findings/{id}", id), nil)
}

// Findings implements operational.ReconService.
func (r Recon) Findings(ctx context.Context, f operational.FindingFilter) ([]operational.Finding, error) {
	return list[operational.Finding](ctx, r.c, at("/api/recon/findings").with(f), "findings")
}

// Decide implements operational.ReconService.
func (r Recon) Decide(ctx context.Context, id string, decision operational.FindingDecision) (operational.Finding, error) {
	return call[operational.Finding](ctx, r.c, http.MethodPost, at("/api/recon/findings/{id}/status", id), decision)
}

// History implements operational.ReconService.
func (r Recon) History(ctx context.Context, id string) ([]operational.FindingChange, error) {
	return list[operational.FindingChange](ctx, r.c, at("/api/recon/findings/{id}/history", id), "changes")
}

// Summary implements operational.ReconService.
func (r Recon) Summary(ctx context.Context, f operational.FindingFilter) (operational.FindingSummary, error) {
	return call[operational.FindingSummary](ctx, r.c, http.MethodGet, at("/api/recon/summary").with(f), nil)
}
