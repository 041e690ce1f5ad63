package store

import (
	"context"

	"gorm.io/gorm"

	"github.com/skillrouter/skillrouter/internal/database/table"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/operational"
)

var findings = table.Of[operational.Finding]("findings", "Environment environments.name", "Project environments.project", "ScanID").
	Field("scan_id", func(f *operational.Finding) any { return table.OrNull(&f.ScanID) }).
	With("severity_rank", func(f *operational.Finding) any { return f.Severity.Rank() }).
	With("folded", func(f *operational.Finding) any { return fold(f.Title, f.CVE, f.Description, f.Location, f.Evidence) })

var findingChanges = table.Of[operational.FindingChange]("finding_changes", "From from_status", "To to_status")

// withEnvironment joins the environments of findings. The join is a left one so that SQLite goes through the findings in the order of an index.
const withEnvironment = "LEFT JOIN environments ON environments.id = findings.environment_id "

// ReportFindings implements operational.ReconStore.
func (s *Store) ReportFindings(ctx context.Context, reports []operational.FindingRecord) ([]operational.Reported, []error, error) {
	var reported []operational.Reported
	var refused []error
	err := s.write(ctx, func(tx *gorm.DB) error {
		reported, refused = make([]operational.Reported, len(reports)), make([]error, len(reports))
		for i, report := range reports {
			var err error
			if reported[i], refused[i], err = reportFinding(tx, report); err != nil {
				return err
			}
		}
		return nil
	}, nil)
	return reported, refused, err
}

// reportFinding stores one report. A refusal is returned apart from an error
// of the database, before anything was written.
func reportFinding(tx *gorm.DB, report operational.FindingRecord) (reported operational.Reported, refused, err error) {
	env, err := environmentNamed(tx, report.Environment.Name)
	if err != nil {
		return reported, nil, err
	}
	if id := report.Draft.ScanID; id != "" {
		known := false
		if env != nil {
			if known, err = table.Scalar[bool](tx, "SELECT EXISTS (SELECT 1 FROM scans WHERE id = ? AND environment_id = ?)", id, env.ID); err != nil {
				return reported, nil, err
			}
		}
		if !known {
			return reported, errs.InvalidField("scan_id", "names no scan of this environment"), nil
		}
	}
	if env, err = ensureEnvironment(tx, report.Environment); err != nil {
		return reported, nil, err
	}
	report.Environment = *env

	found, known, err := findings.One(tx, withEnvironment+"WHERE findings.environment_id = ? AND findings.fingerprint = ?", env.ID, report.Fingerprint)
	if err != nil {
		return reported, nil, err
	}
	kind, from := operational.EventFindingSeen, found.Status
	var change *operational.FindingChange
	if !known {
		reported = operational.Reported{Finding: report.Fresh(), New: true}
		kind, change = operational.EventFindingReported, &operational.FindingChange{At: report.At, AgentID: report.Draft.AgentID, To: operational.FindingOpen}
		err = findings.Insert(tx, &reported.Finding, "environment_id", env.ID, "fingerprint", report.Fingerprint)
	} else {
		reported.Finding = found
		change = report.SeeAgain(&reported.Finding)
		if reported.Reopened = reported.Status != from; reported.Reopened {
			kind = operational.EventFindingReopened
		}
		err = findings.Update(tx, &reported.Finding, "id")
	}
	if err == nil && change != nil {
		err = findingChanges.Insert(tx, change, "finding_id", reported.ID)
	}
	if err != nil {
		return reported, nil, err
	}
	return reported, nil, table.AppendEvents(tx, operational.FindingEvent(kind, reported.Finding, from, report.Draft.AgentID, report.At))
}

// Finding implements operational.ReconStore.
func (s *Store) Finding(ctx context.Context, id string) (operational.Finding, error) {
	return need(findings, s.Read.WithContext(ctx), noFinding, withEnvironment+"WHERE findings.id = ?", id)
}

const noFinding = "there is no such finding"

// ListFindings implements operational.ReconStore.
func (s *Store) ListFindings(ctx context.Context, f operational.FindingFilter) ([]operational.Finding, error) {
	order := "severity_rank, last_seen DESC, findings.id"
	if f.CVE != "" || f.ScanID != "" { // few have one: to sort them is cheaper than to look through all in order
		order = "{unindexed}" + order
	}
	c := selectFindings(f)
	by := holdingAny(&c, f.AnyOf, order)
	return findings.List(s.Read.WithContext(ctx), withEnvironment+c.Text+by, c.With(f.Limit)...)
}

// ChangeFinding implements operational.ReconStore.
func (s *Store) ChangeFinding(ctx context.Context, id string, change func(*operational.Finding) (*operational.FindingChange, *eventlog.Event)) (operational.Finding, error) {
	one := changing[operational.Finding]{of: findings, where: withEnvironment + "WHERE findings.id = ?", args: []any{id}, missing: noFinding, by: "id"}
	return one.change(ctx, s, func(tx *gorm.DB, finding *operational.Finding) (*eventlog.Event, error) {
		made, event := change(finding)
		if made == nil || event == nil {
			return nil, nil
		}
		return event, findingChanges.Insert(tx, made, "finding_id", id)
	})
}

// ListFindingChanges implements operational.ReconStore.
func (s *Store) ListFindingChanges(ctx context.Context, id string, limit int) ([]operational.FindingChange, error) {
	return findingChanges.List(s.Read.WithContext(ctx), "WHERE finding_id = ? ORDER BY seq LIMIT ?", id, limit)
}

// SummarizeFindings implements operational.ReconStore.
func (s *Store) SummarizeFindings(ctx context.Context, f operational.FindingFilter) (operational.FindingSummary, error) {
	type count struct {
		operational.Finding
		environment string
		number      int
	}
	c := selectFindings(f)
	counts, err := table.List(s.Read.WithContext(ctx), func(c *count) []any { return []any{&c.environment, &c.Status, &c.Severity, &c.number} },
		"SELECT environment_id, status, severity, count(*) FROM findings "+c.Text+" GROUP BY environment_id, status, severity", c.Args...)
	if err != nil {
		return operational.FindingSummary{}, err
	}
	envs, err := environments.List(s.Read.WithContext(ctx), "")
	if err != nil {
		return operational.FindingSummary{}, err
	}
	names := make(map[string]string, len(envs))
	for _, e := range envs {
		names[e.ID] = e.Name
	}
	summary := operational.FindingSummary{
		BySeverity: map[operational.Severity]int{}, ByStatus: map[operational.FindingStatus]int{}, ByEnvironment: map[string]int{},
	}
	for _, severity := range operational.Severities() {
		summary.BySeverity[severity] = 0
	}
	for _, status := range operational.FindingStatuses() {
		summary.ByStatus[status] = 0
	}
	for _, c := range counts {
		summary.Total += c.number
		summary.BySeverity[c.Severity] += c.number
		summary.ByStatus[c.Status] += c.number
		summary.ByEnvironment[names[c.environment]] += c.number
		if c.Status.Active() {
			summary.Active += c.number
		}
	}
	return summary, nil
}

func selectFindings(f operational.FindingFilter) (c table.Conditions) {
	c.Given("findings.environment_id IN (SELECT id FROM environments WHERE lower(name) = lower(?))", f.Environment)
	c.Given("findings.environment_id IN (SELECT id FROM environments WHERE project = ?)", f.Project)
	table.GivenAny(&c, "severity", f.Severity)
	table.GivenAny(&c, "status", f.Status)
	c.Given("cve = ? AND cve <> ''", f.CVE) // the second part lets the partial index serve
	c.Equal("scan_id", f.ScanID)
	if f.Location != "" {
		c.Add(`location {like} ? ESCAPE '\'`, "%"+table.Literal(f.Location)+"%")
	}
	c.Between("last_seen", f.Since, f.Until)
	holding(&c, f.Text)
	return c
}
