package operational

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/internal/lazyregexp"
)

// Bounds of recon.
const (
	MaxFindings     = 1000     // of one report
	MaxFindingTitle = 500      // bytes; a title is a line
	MaxFindingText  = 64 << 10 // bytes of a description, evidence, remediation, summary or note
	MaxLocation     = 2 << 10  // bytes; the longest is a URL
)

// The statuses of a scan.
const (
	ScanRunning   = "running"
	ScanCompleted = "completed"
	ScanFailed    = "failed"
)

// ScanStatuses lists the statuses of a scan.
func ScanStatuses() []string { return []string{ScanRunning, ScanCompleted, ScanFailed} }

// ScanEnd says how a scan ended.
type ScanEnd struct {
	Status  string `json:"status,omitempty" doc:"completed (default) or failed" among:"completed,failed"` // completed or failed; empty: completed
	Summary string `json:"summary,omitempty"`
	AgentID string `json:"agent_id,omitempty" actor:"true"`
}

// ScanFilter selects scans; empty fields select everything.
type ScanFilter struct {
	Environment string    `query:"environment" doc:"Only those of this environment"`
	Project     string    `query:"project" doc:"Only those of this project"`
	Status      string    `query:"status" enum:"running,completed,failed"`
	Since       time.Time `query:"since" doc:"Only those started at or after this time"`
	Limit       int       `query:"limit" minimum:"0" maximum:"1000" doc:"0: 100" usual:"100,1000"` // 1 to MaxLimit; 0 means DefaultLimit
}

// FindingDecision sets a finding's status.
type FindingDecision struct {
	Status  FindingStatus `json:"status"`
	Note    string        `json:"note,omitempty" doc:"Why"`
	AgentID string        `json:"agent_id,omitempty" actor:"true"`
}

// Reported says what became of a finding that was reported.
type Reported struct {
	Finding
	New      bool `json:"new"`      // it was not known
	Reopened bool `json:"reopened"` // it had been fixed
}

// FindingRefusal names a finding of a report that was not recorded, and why.
type FindingRefusal struct {
	Index int    `json:"index"` // position in the request, from 0
	Error string `json:"error"`
}

// FindingReport says what became of a report.
type FindingReport struct {
	New       int              `json:"new"`
	SeenAgain int              `json:"seen_again"`
	Reopened  int              `json:"reopened"` // of those seen again
	IDs       []string         `json:"ids"`      // by position in the request; empty where it was refused
	Refused   []FindingRefusal `json:"refused"`
}

// FindingSummary counts findings.
type FindingSummary struct {
	Total         int                   `json:"total"`
	Active        int                   `json:"active"`      // open or confirmed
	BySeverity    map[Severity]int      `json:"by_severity"` // every severity is there
	ByStatus      map[FindingStatus]int `json:"by_status"`   // every status is there
	ByEnvironment map[string]int        `json:"by_environment"`
}

// Rank is the severity's place from the worst, 0.
func (s Severity) Rank() int { return slices.Index(Severities(), s) }

// ActiveFindingStatuses lists the statuses of a finding that still is a danger.
func ActiveFindingStatuses() []FindingStatus {
	return []FindingStatus{FindingOpen, FindingConfirmed}
}

// Active tells whether a finding with this status still is a danger.
func (s FindingStatus) Active() bool { return slices.Contains(ActiveFindingStatuses(), s) }

// FindingRecord is a checked report of a finding, with what a new row needs.
type FindingRecord struct {
	Draft       FindingDraft
	ID          string
	Fingerprint string
	At          time.Time
	Environment Environment // to be stored if there is none of that name
}

// Fresh returns the finding that the report makes if it was not known.
func (s FindingRecord) Fresh() Finding {
	d := s.Draft
	return Finding{
		ID: s.ID, Environment: s.Environment.Name, ScanID: d.ScanID, CVE: d.CVE, Title: d.Title, Description: d.Description,
		Severity: d.Severity, Status: FindingOpen, Location: d.Location, Evidence: d.Evidence, Remediation: d.Remediation,
		Project: s.Environment.Project, Occurrences: 1, FirstSeen: s.At, LastSeen: s.At, UpdatedAt: s.At,
	}
}

// SeeAgain adds the report to a finding that is known. A finding that was fixed is open
// again, and a new severity is noted. A finding that was accepted or called a false positive
// stays so. SeeAgain returns the entry for the finding's history, or nil.
func (s FindingRecord) SeeAgain(f *Finding) *FindingChange {
	d := s.Draft
	f.Occurrences++
	f.LastSeen, f.UpdatedAt = s.At, s.At
	f.ScanID, f.CVE = cmp.Or(d.ScanID, f.ScanID), cmp.Or(d.CVE, f.CVE)
	f.Description, f.Evidence, f.Remediation = cmp.Or(d.Description, f.Description), cmp.Or(d.Evidence, f.Evidence), cmp.Or(d.Remediation, f.Remediation)
	change := FindingChange{At: s.At, AgentID: d.AgentID, From: f.Status, To: f.Status}
	var notes []string
	if f.Status == FindingFixed {
		f.Status, change.To = FindingOpen, FindingOpen
		notes = append(notes, "seen again after it was fixed")
	}
	if f.Severity != d.Severity {
		notes = append(notes, "severity "+string(f.Severity)+" became "+string(d.Severity))
		f.Severity = d.Severity
	}
	if len(notes) == 0 {
		return nil
	}
	change.Note = strings.Join(notes, "; ")
	return &change
}

// cveID is the form of an id in the CVE list (https://www.cve.org/ResourcesSupport/FAQs).
var cveID = lazyregexp.New(`^CVE-\d{4}-\d{4,19}$`)

// fingerprint is what makes a finding the same as another of its environment:
// the CVE, or else the title without regard to case and spacing, and the location.
func fingerprint(d FindingDraft) string {
	what := d.CVE
	if what == "" {
		what = strings.Join(strings.Fields(strings.ToLower(norm.NFC.String(d.Title))), " ")
	}
	sum := sha256.Sum256([]byte(what + "\x00" + d.Location))
	return hex.EncodeToString(sum[:])
}

func cleanName(s string) string { return strings.TrimSpace(norm.NFC.String(s)) }

func (d EnvironmentDraft) check() error {
	return cmp.Or(
		checkRequiredName("name", d.Name),
		check.Name("kind", d.Kind),
		check.Text("description", d.Description, MaxFindingText),
		check.Name("project", d.Project),
	)
}

func (d ScanDraft) check() error {
	return cmp.Or(
		checkRequiredName("environment", d.Environment),
		checkRequiredName("scanner", d.Scanner),
		check.OneOf("status", d.Status, ScanStatuses()),
		check.Text("summary", d.Summary, MaxFindingText),
	)
}

func (e ScanEnd) check() error {
	return cmp.Or(check.OneOf("status", e.Status, []string{ScanCompleted, ScanFailed}), check.Text("summary", e.Summary, MaxFindingText))
}

func (f *ScanFilter) check() error {
	f.Environment = cleanName(f.Environment)
	return cmp.Or(check.SetLimit(&f.Limit, DefaultLimit, MaxLimit), check.Optional("status", f.Status, ScanStatuses()), check.Names("environment", f.Environment, "project", f.Project))
}

func (d FindingDraft) check() error {
	if err := cmp.Or(checkRequiredName("environment", d.Environment), check.Required("title", d.Title, MaxFindingTitle)); err != nil {
		return err
	}
	if d.CVE != "" && !cveID.MatchString(d.CVE) {
		return errs.InvalidField("cve", "is not of the form CVE-2024-12345")
	}
	return cmp.Or(
		check.OneOf("severity", d.Severity, Severities()),
		check.Text("scan_id", d.ScanID, check.MaxName),
		check.Text("location", d.Location, MaxLocation),
		check.Texts(MaxFindingText, "description", d.Description, "evidence", d.Evidence, "remediation", d.Remediation),
	)
}

func (f *FindingFilter) check() error {
	if err := cmp.Or(
		check.SetLimit(&f.Limit, DefaultLimit, MaxLimit), check.Each("severity", f.Severity, Severities()), check.Each("status", f.Status, FindingStatuses()),
	); err != nil {
		return err
	}
	f.Environment, f.CVE = cleanName(f.Environment), strings.ToUpper(strings.TrimSpace(f.CVE))
	if f.CVE != "" && !cveID.MatchString(f.CVE) {
		return errs.InvalidField("cve", "is not of the form CVE-2024-12345")
	}
	return cmp.Or(
		check.Names("environment", f.Environment, "project", f.Project, "scan_id", f.ScanID),
		checkAnyOf(f.AnyOf),
		check.Texts(MaxFilterText, "text", f.Text, "location", f.Location),
	)
}

func (d FindingDecision) check() error {
	return cmp.Or(check.OneOf("status", d.Status, FindingStatuses()), check.Text("note", d.Note, MaxFindingText))
}

func checkRequiredName(field, s string) error {
	if s == "" {
		return errs.InvalidField(field, "is required")
	}
	return check.Name(field, s)
}

func sortRefusals(refusals []FindingRefusal) {
	slices.SortStableFunc(refusals, func(a, b FindingRefusal) int { return cmp.Compare(a.Index, b.Index) })
}

// The types of the events of recon.
const (
	EventEnvironmentStored = "environment.stored"
	EventScanStarted       = "scan.started"
	EventScanFinished      = "scan.finished"
	EventFindingReported   = "finding.reported"
	EventFindingSeen       = "finding.seen"
	EventFindingReopened   = "finding.reopened"
	EventFindingDecided    = "finding.decided"
)

// FindingEventData is the data of a finding's event.
type FindingEventData struct {
	Environment string        `json:"environment"`
	CVE         string        `json:"cve,omitempty"`
	Title       string        `json:"title"`
	Severity    Severity      `json:"severity"`
	From        FindingStatus `json:"from,omitempty"`
	Status      FindingStatus `json:"status"`
}

// FindingEvent makes the event of a change to a finding.
func FindingEvent(kind string, f Finding, from FindingStatus, by string, at time.Time) eventlog.Event {
	data := FindingEventData{Environment: f.Environment, CVE: f.CVE, Title: f.Title, Severity: f.Severity, From: from, Status: f.Status}
	return eventOf(kind, f.ID, by, f.Project, at, data)
}

func environmentEvent(env Environment, by string, at time.Time) eventlog.Event {
	return eventOf(EventEnvironmentStored, env.ID, by, env.Project, at, map[string]string{"name": env.Name, "kind": env.Kind})
}

func scanEvent(kind string, scan Scan, by string, at time.Time) eventlog.Event {
	return eventOf(kind, scan.ID, by, "", at, map[string]string{"environment": scan.Environment, "scanner": scan.Scanner, "status": scan.Status})
}
