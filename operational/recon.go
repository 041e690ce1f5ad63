package operational

import (
	"time"

	"github.com/skillrouter/skillrouter/internal/safetext"
)

// Severity of a finding.
type Severity string

// The severities, from the worst to the least.
const (
	SeverityCritical Severity = "critical"
	SeverityHigh     Severity = "high"
	SeverityMedium   Severity = "medium"
	SeverityLow      Severity = "low"
	SeverityInfo     Severity = "info"
)

// Severities lists the severities, from the worst to the least.
func Severities() []Severity {
	return []Severity{SeverityCritical, SeverityHigh, SeverityMedium, SeverityLow, SeverityInfo}
}

// Choices are the values as texts, for whoever asks for one.
func (Severity) Choices() []string { return safetext.Strings(Severities()) }

// FindingStatus is what was decided about a finding.
type FindingStatus string

// The statuses of a finding.
const (
	FindingOpen          FindingStatus = "open"
	FindingConfirmed     FindingStatus = "confirmed"
	FindingFixed         FindingStatus = "fixed"
	FindingAccepted      FindingStatus = "accepted"
	FindingFalsePositive FindingStatus = "false_positive"
)

// FindingStatuses lists the statuses of a finding.
func FindingStatuses() []FindingStatus {
	return []FindingStatus{FindingOpen, FindingConfirmed, FindingFixed, FindingAccepted, FindingFalsePositive}
}

// Choices are the values as texts, for whoever asks for one.
func (FindingStatus) Choices() []string { return safetext.Strings(FindingStatuses()) }

// Environment is something that is scanned: a host, a service, a repository.
type Environment struct {
	ID          string    `json:"id"`
	Name        string    `json:"name"` // unique without regard to case
	Kind        string    `json:"kind,omitempty"`
	Description string    `json:"description,omitempty"`
	Project     string    `json:"project,omitempty"`
	CreatedAt   time.Time `json:"created_at"`
	UpdatedAt   time.Time `json:"updated_at"`
}

// EnvironmentDraft is what a client may say of an environment.
type EnvironmentDraft struct {
	Name        string `json:"name"`
	Kind        string `json:"kind,omitempty" doc:"What it is: host, service, repository, …"`
	Description string `json:"description,omitempty" doc:"Description"`
	Project     string `json:"project,omitempty" here:"project"`
}

// Scan is one run of a scanner over an environment.
type Scan struct {
	ID          string     `json:"id"`
	Environment string     `json:"environment"` // its name
	Scanner     string     `json:"scanner"`
	Status      string     `json:"status"` // running, completed or failed
	Summary     string     `json:"summary,omitempty"`
	AgentID     string     `json:"agent_id,omitempty"`
	StartedAt   time.Time  `json:"started_at"`
	FinishedAt  *time.Time `json:"finished_at,omitempty"`
}

// ScanDraft is what a client may say of a scan.
type ScanDraft struct {
	Environment string `json:"environment" doc:"Its name; a new one is added"`
	Scanner     string `json:"scanner" doc:"Such as trivy"`
	Status      string `json:"status,omitempty" doc:"running (default), completed or failed" among:"running,completed,failed"` // empty: running
	Summary     string `json:"summary,omitempty" doc:"What it is about"`
	AgentID     string `json:"agent_id,omitempty" actor:"true"`
}

// Finding is something that a scan or a person found. The same finding again, in the same
// environment, with the same CVE or title and location, is the same row, seen once more.
type Finding struct {
	ID          string        `json:"id"`
	Environment string        `json:"environment"`
	ScanID      string        `json:"scan_id,omitempty"`
	CVE         string        `json:"cve,omitempty"` // as CVE-2024-12345
	Title       string        `json:"title"`
	Description string        `json:"description,omitempty"`
	Severity    Severity      `json:"severity"`
	Status      FindingStatus `json:"status"`
	Location    string        `json:"location,omitempty"` // file:line, URL, host:port, package@version
	Evidence    string        `json:"evidence,omitempty"`
	Remediation string        `json:"remediation,omitempty"`
	Project     string        `json:"project,omitempty"`
	Occurrences int           `json:"occurrences"`
	FirstSeen   time.Time     `json:"first_seen"`
	LastSeen    time.Time     `json:"last_seen"`
	UpdatedAt   time.Time     `json:"updated_at"`
}

// FindingDraft is what a client may say of a finding.
type FindingDraft struct {
	Environment string   `json:"environment"`
	ScanID      string   `json:"scan_id,omitempty" doc:"Scan that found it"`
	CVE         string   `json:"cve,omitempty" doc:"CVE, as CVE-2024-12345"`
	Title       string   `json:"title,omitempty" doc:"Default: the CVE"` // empty: the CVE
	Description string   `json:"description,omitempty" doc:"Description"`
	Severity    Severity `json:"severity" doc:"How grave it is"`
	Location    string   `json:"location,omitempty" doc:"file:line, URL, host:port or package@version"`
	Evidence    string   `json:"evidence,omitempty" doc:"What shows it"`
	Remediation string   `json:"remediation,omitempty" doc:"What mends it"`
	AgentID     string   `json:"agent_id,omitempty" actor:"true"`
}

// FindingFilter selects findings; empty fields select everything.
type FindingFilter struct {
	Environment string          `query:"environment" help:"Only those of this environment"`
	Project     string          `query:"project" help:"Only those of this project"`
	Severity    []Severity      `query:"severity" doc:"One or more, separated by commas: critical, high, medium, low, info"`
	Status      []FindingStatus `query:"status" doc:"One or more, separated by commas: open, confirmed, fixed, accepted, false_positive"`
	CVE         string          `query:"cve" doc:"As CVE-2024-12345"`
	ScanID      string          `query:"scan_id" doc:"Only those that this scan saw last"`
	Text        string          `query:"text" doc:"Words that title, description, location or evidence hold, in any case"`                    // words of title, description, location or evidence, each of which it must hold, without regard to case
	AnyOf       []string        `query:"any_of" doc:"Words, separated by commas, of which it must hold one; those that hold more come first"` // words of which it must hold one; those that hold more come first. At most MaxAnyOf
	Location    string          `query:"location" doc:"Part of the location, in any case"`
	Since       time.Time       `query:"since" doc:"Only those last seen at or after this time"`
	Until       time.Time       `query:"until" doc:"Only those last seen before this time"`
	Limit       int             `query:"limit" minimum:"0" maximum:"1000" doc:"0: 100" usual:"100,1000"` // 1 to MaxLimit; 0 means DefaultLimit
}

// FindingChange is one line of a finding's history.
type FindingChange struct {
	At      time.Time     `json:"at"`
	AgentID string        `json:"agent_id,omitempty"`
	From    FindingStatus `json:"from,omitempty"`
	To      FindingStatus `json:"to"`
	Note    string        `json:"note,omitempty"`
}
