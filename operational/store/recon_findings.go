package store

import (
	"context"
	"errors"

	"gorm.io/gorm"

	"skillrouter/internal/errs"
	"skillrouter/internal/eventlog"
	"skillrouter/operational"
)

type findingRow struct {
	ID            string `gorm:"primaryKey"`
	EnvironmentID string
	Environment   string `gorm:"->;-:migration"` // joined
	Project       string `gorm:"->;-:migration"` // joined
	ScanID        *string
	Fingerprint   string
	CVE           string `gorm:"column:cve"`
	Title         string
	Description   string
	Severity      string
	SeverityRank  int
	Status        string
	Location      string
	Evidence      string
	Remediation   string
	Folded        string
	Occurrences   int
	FirstSeen     int64
	LastSeen      int64
	UpdatedAt     int64 `gorm:"autoUpdateTime:false"`
}

func (findingRow) TableName() string { return "findings" }

// set takes over what may change of a finding.
func (r *findingRow) set(f operational.Finding) {
	r.ScanID = nil
	if f.ScanID != "" {
		r.ScanID = &f.ScanID
	}
	r.CVE, r.Title, r.Description, r.Severity, r.Status = f.CVE, f.Title, f.Description, string(f.Severity), string(f.Status)
	r.Location, r.Evidence, r.Remediation, r.Occurrences = f.Location, f.Evidence, f.Remediation, f.Occurrences
	r.SeverityRank = f.Severity.Rank()
	r.Folded = fold(f.Title, f.CVE, f.Description, f.Location, f.Evidence)
	r.FirstSeen, r.LastSeen, r.UpdatedAt = millis(f.FirstSeen), millis(f.LastSeen), millis(f.UpdatedAt)
}

func (r findingRow) finding() operational.Finding {
	f := operational.Finding{
		ID: r.ID, Environment: r.Environment, CVE: r.CVE, Title: r.Title, Description: r.Description,
		Severity: operational.Severity(r.Severity), Status: operational.FindingStatus(r.Status), Location: r.Location,
		Evidence: r.Evidence, Remediation: r.Remediation, Project: r.Project, Occurrences: r.Occurrences,
		FirstSeen: fromMillis(r.FirstSeen), LastSeen: fromMillis(r.LastSeen), UpdatedAt: fromMillis(r.UpdatedAt),
	}
	if r.ScanID != nil {
		f.ScanID = *r.ScanID
	}
	return f
}

type findingChangeRow struct {
	Seq        int64 `gorm:"primaryKey;autoIncrement"`
	FindingID  string
	At         int64
	AgentID    string
	FromStatus string
	ToStatus   string
	Note       string
}

func (findingChangeRow) TableName() string { return "finding_changes" }

func appendFindingChange(tx *gorm.DB, id string, c operational.FindingChange) error {
	return tx.Create(&findingChangeRow{
		FindingID: id, At: millis(c.At), AgentID: c.AgentID, FromStatus: string(c.From), ToStatus: string(c.To), Note: c.Note,
	}).Error
}

// findings selects findings with what their environments say. The join is a
// left one so that SQLite goes through the findings in the order of an index.
func findings(q *gorm.DB) *gorm.DB {
	return q.Model(&findingRow{}).Joins("LEFT JOIN environments ON environments.id = findings.environment_id").Select("findings.*, environments.name AS environment, environments.project AS project")
}

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
		var known int64
		if env != nil {
			if err := tx.Model(&scanRow{}).Where("id = ? AND environment_id = ?", id, env.ID).Count(&known).Error; err != nil {
				return reported, nil, err
			}
		}
		if known == 0 {
			return reported, errs.InvalidField("scan_id", "names no scan of this environment"), nil
		}
	}
	if env == nil {
		added := rowOfEnvironment(report.Environment)
		if err := tx.Create(&added).Error; err != nil {
			return reported, nil, err
		}
		env = &added
	}
	report.Environment = env.environment()

	var row findingRow
	err = findings(tx).Where("findings.environment_id = ? AND findings.fingerprint = ?", env.ID, report.Fingerprint).Take(&row).Error
	if err != nil && !errors.Is(err, gorm.ErrRecordNotFound) {
		return reported, nil, err
	}
	kind, from := operational.EventFindingSeen, operational.FindingStatus(row.Status)
	var change *operational.FindingChange
	if err != nil {
		reported = operational.Reported{Finding: report.Fresh(), New: true}
		kind, change = operational.EventFindingReported, &operational.FindingChange{At: report.At, AgentID: report.Draft.AgentID, To: operational.FindingOpen}
		row = findingRow{ID: report.ID, EnvironmentID: env.ID, Fingerprint: report.Fingerprint}
		row.set(reported.Finding)
		err = tx.Create(&row).Error
	} else {
		reported.Finding = row.finding()
		change = report.SeeAgain(&reported.Finding)
		if reported.Reopened = reported.Status != from; reported.Reopened {
			kind = operational.EventFindingReopened
		}
		row.set(reported.Finding)
		err = tx.Save(&row).Error
	}
	if err != nil {
		return reported, nil, err
	}
	if change != nil {
		if err := appendFindingChange(tx, row.ID, *change); err != nil {
			return reported, nil, err
		}
	}
	return reported, nil, appendEvent(tx, operational.FindingEvent(kind, reported.Finding, from, report.Draft.AgentID, report.At))
}

// Finding implements operational.ReconStore.
func (s *Store) Finding(ctx context.Context, id string) (operational.Finding, error) {
	var row findingRow
	err := findings(s.read.WithContext(ctx)).Where("findings.id = ?", id).Take(&row).Error
	return row.finding(), notFound(err, "there is no such finding")
}

// ListFindings implements operational.ReconStore.
func (s *Store) ListFindings(ctx context.Context, f operational.FindingFilter) ([]operational.Finding, error) {
	order := "severity_rank, last_seen DESC, findings.id"
	if f.CVE != "" || f.ScanID != "" { // few have one: to sort them is cheaper than to look through all in order
		order = "{unindexed}" + order
	}
	return listOf(holdingAny(selectFindings(findings(s.read.WithContext(ctx)), f), f.AnyOf, order).Limit(f.Limit), findingRow.finding)
}

// ChangeFinding implements operational.ReconStore.
func (s *Store) ChangeFinding(ctx context.Context, id string, change func(*operational.Finding) (*operational.FindingChange, *eventlog.Event)) (operational.Finding, error) {
	var finding operational.Finding
	err := s.write(ctx, func(tx *gorm.DB) error {
		var row findingRow
		if err := findings(tx).Where("findings.id = ?", id).Take(&row).Error; err != nil {
			return refuse(notFound(err, "there is no such finding"))
		}
		finding = row.finding()
		made, event := change(&finding)
		if made == nil || event == nil {
			return nil
		}
		row.set(finding)
		if err := tx.Save(&row).Error; err != nil {
			return err
		}
		if err := appendFindingChange(tx, id, *made); err != nil {
			return err
		}
		return appendEvent(tx, *event)
	}, nil)
	return finding, err
}

// ListFindingChanges implements operational.ReconStore.
func (s *Store) ListFindingChanges(ctx context.Context, id string, limit int) ([]operational.FindingChange, error) {
	return listOf(s.read.WithContext(ctx).Where("finding_id = ?", id).Order("seq").Limit(limit), func(r findingChangeRow) operational.FindingChange {
		return operational.FindingChange{At: fromMillis(r.At), AgentID: r.AgentID, From: operational.FindingStatus(r.FromStatus), To: operational.FindingStatus(r.ToStatus), Note: r.Note}
	})
}

// SummarizeFindings implements operational.ReconStore.
func (s *Store) SummarizeFindings(ctx context.Context, f operational.FindingFilter) (operational.FindingSummary, error) {
	var counts []struct {
		Severity      operational.Severity
		Status        operational.FindingStatus
		EnvironmentID string
		Number        int
	}
	err := selectFindings(s.read.WithContext(ctx).Model(&findingRow{}), f).
		Select("environment_id, status, severity, count(*) AS number").Group("environment_id, status, severity").Scan(&counts).Error
	if err != nil {
		return operational.FindingSummary{}, err
	}
	var envs []environmentRow
	if err := s.read.WithContext(ctx).Select("id", "name").Find(&envs).Error; err != nil {
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
		summary.Total += c.Number
		summary.BySeverity[c.Severity] += c.Number
		summary.ByStatus[c.Status] += c.Number
		summary.ByEnvironment[names[c.EnvironmentID]] += c.Number
		if c.Status.Active() {
			summary.Active += c.Number
		}
	}
	return summary, nil
}

func selectFindings(q *gorm.DB, f operational.FindingFilter) *gorm.DB {
	q = given(q, "findings.environment_id IN (SELECT id FROM environments WHERE lower(name) = lower(?))", f.Environment)
	q = given(q, "findings.environment_id IN (SELECT id FROM environments WHERE project = ?)", f.Project)
	q = givenAny(q, "severity IN ?", f.Severity)
	q = givenAny(q, "status IN ?", f.Status)
	q = given(q, "cve = ? AND cve <> ''", f.CVE) // the second part lets the partial index serve
	q = given(q, "scan_id = ?", f.ScanID)
	if f.Location != "" {
		q = q.Where(`location {like} ? ESCAPE '\'`, "%"+likeLiteral(f.Location)+"%")
	}
	q = givenTime(q, "last_seen >= ?", f.Since)
	q = givenTime(q, "last_seen < ?", f.Until)
	return holding(q, f.Text)
}
