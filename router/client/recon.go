package client

import (
	"context"
	"net/http"
	"net/url"

	"skillrouter/operational"
)

// Recon is operational.ReconService over HTTP.
type Recon struct{ c *Client }

var _ operational.ReconService = Recon{}

// StoreEnvironment implements operational.ReconService.
func (r Recon) StoreEnvironment(ctx context.Context, draft operational.EnvironmentDraft) (operational.Environment, error) {
	return call[operational.Environment](ctx, r.c, http.MethodPost, "/api/recon/environments", nil, draft)
}

// Environments implements operational.ReconService.
func (r Recon) Environments(ctx context.Context, project string) ([]operational.Environment, error) {
	type listing struct {
		Environments []operational.Environment `json:"environments"`
	}
	list, err := call[listing](ctx, r.c, http.MethodGet, "/api/recon/environments", values("project", project), nil)
	return list.Environments, err
}

// StartScan implements operational.ReconService.
func (r Recon) StartScan(ctx context.Context, draft operational.ScanDraft) (operational.Scan, error) {
	return call[operational.Scan](ctx, r.c, http.MethodPost, "/api/recon/scans", nil, draft)
}

// FinishScan implements operational.ReconService.
func (r Recon) FinishScan(ctx context.Context, id string, end operational.ScanEnd) (operational.Scan, error) {
	path, err := segment("id", id)
	if err != nil {
		return operational.Scan{}, err
	}
	return call[operational.Scan](ctx, r.c, http.MethodPost, "/api/recon/scans/"+path+"/finish", nil, end)
}

// Scans implements operational.ReconService.
func (r Recon) Scans(ctx context.Context, f operational.ScanFilter) ([]operational.Scan, error) {
	type listing struct {
		Scans []operational.Scan `json:"scans"`
	}
	list, err := call[listing](ctx, r.c, http.MethodGet, "/api/recon/scans",
		values("environment", f.Environment, "project", f.Project, "status", f.Status, "since", f.Since, "limit", f.Limit), nil)
	return list.Scans, err
}

// Report implements operational.ReconService.
func (r Recon) Report(ctx context.Context, draft operational.FindingDraft) (operational.Reported, error) {
	return call[operational.Reported](ctx, r.c, http.MethodPost, "/api/recon/findings", nil, draft)
}

// ReportAll implements operational.ReconService.
func (r Recon) ReportAll(ctx context.Context, drafts []operational.FindingDraft) (operational.FindingReport, error) {
	if drafts == nil {
		drafts = []operational.FindingDraft{}
	}
	return call[operational.FindingReport](ctx, r.c, http.MethodPost, "/api/recon/findings/bulk", nil, drafts)
}

// Finding implements operational.ReconService.
func (r Recon) Finding(ctx context.Context, id string) (operational.Finding, error) {
	path, err := segment("id", id)
	if err != nil {
		return operational.Finding{}, err
	}
	return call[operational.Finding](ctx, r.c, http.MethodGet, "/api/recon/findings/"+path, nil, nil)
}

// Findings implements operational.ReconService.
func (r Recon) Findings(ctx context.Context, f operational.FindingFilter) ([]operational.Finding, error) {
	type listing struct {
		Findings []operational.Finding `json:"findings"`
	}
	list, err := call[listing](ctx, r.c, http.MethodGet, "/api/recon/findings", findingSelection(f), nil)
	return list.Findings, err
}

// Decide implements operational.ReconService.
func (r Recon) Decide(ctx context.Context, id string, decision operational.FindingDecision) (operational.Finding, error) {
	path, err := segment("id", id)
	if err != nil {
		return operational.Finding{}, err
	}
	return call[operational.Finding](ctx, r.c, http.MethodPost, "/api/recon/findings/"+path+"/status", nil, decision)
}

// History implements operational.ReconService.
func (r Recon) History(ctx context.Context, id string) ([]operational.FindingChange, error) {
	path, err := segment("id", id)
	if err != nil {
		return nil, err
	}
	type listing struct {
		Changes []operational.FindingChange `json:"changes"`
	}
	list, err := call[listing](ctx, r.c, http.MethodGet, "/api/recon/findings/"+path+"/history", nil, nil)
	return list.Changes, err
}

// Summary implements operational.ReconService.
func (r Recon) Summary(ctx context.Context, f operational.FindingFilter) (operational.FindingSummary, error) {
	return call[operational.FindingSummary](ctx, r.c, http.MethodGet, "/api/recon/summary", findingSelection(f), nil)
}

func findingSelection(f operational.FindingFilter) url.Values {
	return values("environment", f.Environment, "project", f.Project, "severity", list(f.Severity), "status", list(f.Status),
		"cve", f.CVE, "scan_id", f.ScanID, "text", f.Text, "any_of", list(f.AnyOf), "location", f.Location, "since", f.Since, "until", f.Until, "limit", f.Limit)
}
