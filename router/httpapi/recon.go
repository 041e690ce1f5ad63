package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

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

// findingSelection is what GET /api/recon/findings and the summary may be asked for.
type findingSelection struct {
	Environment string                      `query:"environment"`
	Project     string                      `query:"project"`
	Severity    []operational.Severity      `query:"severity" doc:"One or more, separated by commas: critical, high, medium, low, info"`
	Status      []operational.FindingStatus `query:"status" doc:"One or more, separated by commas: open, confirmed, fixed, accepted, false_positive"`
	CVE         string                      `query:"cve" doc:"As CVE-2024-12345"`
	ScanID      string                      `query:"scan_id" doc:"Only those that this scan saw last"`
	Text        string                      `query:"text" doc:"Words that title, description, location or evidence hold, in any case"`
	AnyOf       []string                    `query:"any_of" doc:"Words, separated by commas, of which it must hold one; those that hold more come first"`
	Location    string                      `query:"location" doc:"Part of the location, in any case"`
	Since       time.Time                   `query:"since" doc:"Only those last seen at or after this time"`
	Until       time.Time                   `query:"until" doc:"Only those last seen before this time"`
	Limit       int                         `query:"limit" minimum:"0" maximum:"1000" doc:"0: 100"`
}

func (s findingSelection) filter() operational.FindingFilter {
	return operational.FindingFilter{
		Environment: s.Environment, Project: s.Project, Severity: s.Severity, Status: s.Status, CVE: s.CVE, ScanID: s.ScanID,
		Text: s.Text, AnyOf: s.AnyOf, Location: s.Location, Since: s.Since, Until: s.Until, Limit: s.Limit,
	}
}

// idInput names one thing by the path.
type idInput struct {
	ID string `path:"id"`
}

func (s *Server) reconRoutes() {
	recon := s.services.Recon
	if recon == nil {
		return
	}
	op := func(method, path, summary string) huma.Operation {
		return operation(method, "/api/recon"+path, "recon", summary)
	}
	created := func(path, summary string) huma.Operation {
		o := op(http.MethodPost, path, summary)
		o.DefaultStatus = http.StatusCreated
		return o
	}
	register(s, op(http.MethodPost, "/environments", "Add an environment, or change the one of that name"),
		func(ctx context.Context, in *struct{ Body operational.EnvironmentDraft }) (*answer[operational.Environment], error) {
			env, err := recon.StoreEnvironment(ctx, in.Body)
			return reply(env), err
		})
	register(s, op(http.MethodGet, "/environments", "List environments by name"),
		func(ctx context.Context, in *struct {
			Project string `query:"project"`
		},
		) (*answer[EnvironmentList], error) {
			list, err := recon.Environments(ctx, in.Project)
			return reply(EnvironmentList{Environments: emptied(list), Count: len(list)}), err
		})
	register(s, created("/scans", "Record a scan; its environment is added if it is not known"),
		func(ctx context.Context, in *struct{ Body operational.ScanDraft }) (*answer[operational.Scan], error) {
			scan, err := recon.StartScan(ctx, in.Body)
			return &answer[operational.Scan]{Status: http.StatusCreated, Body: scan}, err
		})
	register(s, op(http.MethodGet, "/scans", "List scans, the latest first"),
		func(ctx context.Context, in *struct {
			Environment string    `query:"environment"`
			Project     string    `query:"project"`
			Status      string    `query:"status" enum:"running,completed,failed"`
			Since       time.Time `query:"since" doc:"Only those started at or after this time"`
			Limit       int       `query:"limit" minimum:"0" maximum:"1000" doc:"0: 100"`
		},
		) (*answer[ScanList], error) {
			list, err := recon.Scans(ctx, operational.ScanFilter{Environment: in.Environment, Project: in.Project, Status: in.Status, Since: in.Since, Limit: in.Limit})
			return reply(ScanList{Scans: emptied(list), Count: len(list)}), err
		})
	register(s, op(http.MethodPost, "/scans/{id}/finish", "End a running scan"),
		func(ctx context.Context, in *changeInput[operational.ScanEnd]) (*answer[operational.Scan], error) {
			scan, err := recon.FinishScan(ctx, in.ID, given(in.Body))
			return reply(scan), err
		})
	s.findingRoutes(recon, op, created)
}

func (s *Server) findingRoutes(recon operational.ReconService, op func(method, path, summary string) huma.Operation, created func(path, summary string) huma.Operation) {
	register(s, created("/findings", "Report a finding; a known one is counted, and open again if it had been fixed"),
		func(ctx context.Context, in *struct{ Body operational.FindingDraft }) (*answer[operational.Reported], error) {
			reported, err := recon.Report(ctx, in.Body)
			out := &answer[operational.Reported]{Status: http.StatusOK, Body: reported}
			if reported.New {
				out.Status = http.StatusCreated
			}
			return out, err
		})
	register(s, op(http.MethodPost, "/findings/bulk", "Report up to 1000 findings; bad ones are refused by their place"),
		func(ctx context.Context, in *struct{ Body []operational.FindingDraft }) (*answer[operational.FindingReport], error) {
			report, err := recon.ReportAll(ctx, in.Body)
			return reply(report), err
		})
	register(s, op(http.MethodGet, "/findings", "List findings, the worst first, then the latest seen"),
		func(ctx context.Context, in *findingSelection) (*answer[FindingList], error) {
			list, err := recon.Findings(ctx, in.filter())
			return reply(FindingList{Findings: emptied(list), Count: len(list)}), err
		})
	register(s, op(http.MethodGet, "/findings/{id}", "One finding"),
		func(ctx context.Context, in *idInput) (*answer[operational.Finding], error) {
			finding, err := recon.Finding(ctx, in.ID)
			return reply(finding), err
		})
	register(s, op(http.MethodPost, "/findings/{id}/status", "Decide about a finding: open, confirmed, fixed, accepted, false_positive"),
		func(ctx context.Context, in *changeInput[operational.FindingDecision]) (*answer[operational.Finding], error) {
			finding, err := recon.Decide(ctx, in.ID, given(in.Body))
			return reply(finding), err
		})
	register(s, op(http.MethodGet, "/findings/{id}/history", "What was decided about a finding, the oldest first"),
		func(ctx context.Context, in *idInput) (*answer[FindingHistory], error) {
			changes, err := recon.History(ctx, in.ID)
			return reply(FindingHistory{Changes: emptied(changes), Count: len(changes)}), err
		})
	register(s, op(http.MethodGet, "/summary", "Count findings by severity, status and environment"),
		func(ctx context.Context, in *findingSelection) (*answer[operational.FindingSummary], error) {
			summary, err := recon.Summary(ctx, in.filter())
			return reply(summary), err
		})
}
