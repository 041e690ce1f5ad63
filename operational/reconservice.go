package operational

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/clock"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/internal/principal"
)

// ReconService is what can be done with what reconnaissance finds. Recon
// implements it beside the database, router/client over HTTP.
type ReconService interface {
	// StoreEnvironment adds an environment, or changes the one of that name; empty fields leave what it has.
	StoreEnvironment(ctx context.Context, draft EnvironmentDraft) (Environment, error)
	// Environments lists environments by name; an empty project lists all.
	Environments(ctx context.Context, project string) ([]Environment, error)
	// StartScan records a scan. Its environment is added if it is not known.
	StartScan(ctx context.Context, draft ScanDraft) (Scan, error)
	// FinishScan ends a running scan.
	FinishScan(ctx context.Context, id string, end ScanEnd) (Scan, error)
	// Scans lists scans, the latest first.
	Scans(ctx context.Context, filter ScanFilter) ([]Scan, error)
	// Report records a finding, or that a known one was seen again: then a fixed one is open again.
	Report(ctx context.Context, draft FindingDraft) (Reported, error)
	// ReportAll records up to MaxFindings findings together and refuses the bad ones by their place.
	ReportAll(ctx context.Context, drafts []FindingDraft) (FindingReport, error)
	// Finding returns one finding.
	Finding(ctx context.Context, id string) (Finding, error)
	// Findings lists findings, the worst first, then the latest seen.
	Findings(ctx context.Context, filter FindingFilter) ([]Finding, error)
	// Decide sets a finding's status.
	Decide(ctx context.Context, id string, decision FindingDecision) (Finding, error)
	// History lists the changes of a finding's status, the oldest first.
	History(ctx context.Context, id string) ([]FindingChange, error)
	// Summary counts the findings that the filter selects, whatever its limit.
	Summary(ctx context.Context, filter FindingFilter) (FindingSummary, error)
}

// ReconStore keeps environments, scans and findings. The functions that it is
// handed decide; they run inside the transaction and may run twice.
type ReconStore interface {
	// ChangeEnvironment applies change to the environment of that name, or to fresh if there is none.
	ChangeEnvironment(ctx context.Context, fresh Environment, change func(env *Environment, known bool) *eventlog.Event) (Environment, error)
	ListEnvironments(ctx context.Context, project string, limit int) ([]Environment, error)
	// CreateScan stores a scan and, if its environment is not known, fresh as that environment.
	CreateScan(ctx context.Context, scan Scan, fresh Environment, event eventlog.Event) (Scan, error)
	ChangeScan(ctx context.Context, id string, change func(scan *Scan) (*eventlog.Event, error)) (Scan, error)
	ListScans(ctx context.Context, filter ScanFilter) ([]Scan, error)
	// ReportFindings stores the reports in one transaction. An error of one refuses that one only.
	ReportFindings(ctx context.Context, reports []FindingRecord) ([]Reported, []error, error)
	Finding(ctx context.Context, id string) (Finding, error)
	ListFindings(ctx context.Context, filter FindingFilter) ([]Finding, error)
	ChangeFinding(ctx context.Context, id string, change func(f *Finding) (*FindingChange, *eventlog.Event)) (Finding, error)
	ListFindingChanges(ctx context.Context, id string, limit int) ([]FindingChange, error)
	SummarizeFindings(ctx context.Context, filter FindingFilter) (FindingSummary, error)
}

// Recon is the ReconService over a store.
type Recon struct {
	store ReconStore
	now   clock.Clock
}

var _ ReconService = (*Recon)(nil)

// NewRecon makes the service.
func NewRecon(store ReconStore, now clock.Clock) *Recon {
	return &Recon{store: store, now: now}
}

// StoreEnvironment implements ReconService.
func (r *Recon) StoreEnvironment(ctx context.Context, draft EnvironmentDraft) (Environment, error) {
	p := principal.Of(ctx)
	if err := p.Need(principal.ScopeAgent); err != nil {
		return Environment{}, err
	}
	draft.Name = cleanName(draft.Name)
	if err := draft.check(); err != nil {
		return Environment{}, err
	}
	redactEach(&draft.Description)
	fresh := r.environment(draft.Name)
	return r.store.ChangeEnvironment(ctx, fresh, func(env *Environment, known bool) *eventlog.Event {
		before := *env
		env.Kind, env.Description, env.Project = cmp.Or(draft.Kind, env.Kind), cmp.Or(draft.Description, env.Description), cmp.Or(draft.Project, env.Project)
		if known && *env == before {
			return nil
		}
		env.UpdatedAt = fresh.UpdatedAt
		e := environmentEvent(*env, p.AgentID, fresh.UpdatedAt)
		return &e
	})
}

// Environments implements ReconService.
func (r *Recon) Environments(ctx context.Context, project string) ([]Environment, error) {
	return reading(ctx, check.Name("project", project), func() ([]Environment, error) { return r.store.ListEnvironments(ctx, project, MaxLimit) })
}

// StartScan implements ReconService.
func (r *Recon) StartScan(ctx context.Context, draft ScanDraft) (Scan, error) {
	draft.Environment, draft.Status = cleanName(draft.Environment), cmp.Or(draft.Status, ScanRunning)
	by, err := acting(ctx, "agent_id", draft.AgentID, draft.check())
	if err != nil {
		return Scan{}, err
	}
	redactEach(&draft.Summary)
	now := r.now.Stamp()
	scan := Scan{
		ID: check.NewID(), Environment: draft.Environment, Scanner: draft.Scanner, Status: draft.Status,
		Summary: draft.Summary, AgentID: by, StartedAt: now,
	}
	if scan.Status != ScanRunning {
		scan.FinishedAt = &now
	}
	return r.store.CreateScan(ctx, scan, r.environment(draft.Environment), scanEvent(EventScanStarted, scan, by, now))
}

// FinishScan implements ReconService.
func (r *Recon) FinishScan(ctx context.Context, id string, end ScanEnd) (Scan, error) {
	end.Status = cmp.Or(end.Status, ScanCompleted)
	by, err := acting(ctx, "agent_id", end.AgentID, end.check())
	if err != nil {
		return Scan{}, err
	}
	redactEach(&end.Summary)
	now := r.now.Stamp()
	return r.store.ChangeScan(ctx, id, func(scan *Scan) (*eventlog.Event, error) {
		if scan.Status != ScanRunning {
			return nil, errs.Errorf(errs.Conflict, "the scan is %s already", scan.Status)
		}
		if scan.AgentID != "" && scan.AgentID != by && !principal.Of(ctx).Has(principal.ScopeCaptain) {
			return nil, errs.Errorf(errs.Forbidden, "another agent runs this scan")
		}
		scan.Status, scan.FinishedAt, scan.Summary = end.Status, &now, cmp.Or(end.Summary, scan.Summary)
		e := scanEvent(EventScanFinished, *scan, by, now)
		return &e, nil
	})
}

// Scans implements ReconService.
func (r *Recon) Scans(ctx context.Context, filter ScanFilter) ([]Scan, error) {
	return reading(ctx, filter.check(), func() ([]Scan, error) { return r.store.ListScans(ctx, filter) })
}

// Report implements ReconService.
func (r *Recon) Report(ctx context.Context, draft FindingDraft) (Reported, error) {
	report, err := r.report(ctx, draft)
	if err != nil {
		return Reported{}, err
	}
	reported, refused, err := r.store.ReportFindings(ctx, []FindingRecord{report})
	if err != nil {
		return Reported{}, err
	}
	return reported[0], refused[0]
}

// ReportAll implements ReconService.
func (r *Recon) ReportAll(ctx context.Context, drafts []FindingDraft) (FindingReport, error) {
	if err := principal.Of(ctx).Need(principal.ScopeAgent); err != nil {
		return FindingReport{}, err
	}
	if len(drafts) > MaxFindings {
		return FindingReport{}, errs.Errorf(errs.TooLarge, "more than %d findings in one report", MaxFindings)
	}
	report := FindingReport{IDs: make([]string, len(drafts)), Refused: []FindingRefusal{}}
	refuse := func(index int, err error) {
		message := errs.MessageOf(err)
		if field := errs.FieldOf(err); field != "" {
			message = fmt.Sprintf("%s: %s", field, message)
		}
		report.Refused = append(report.Refused, FindingRefusal{Index: index, Error: message})
	}
	var reports []FindingRecord
	var places []int
	for i, draft := range drafts {
		report, err := r.report(ctx, draft)
		if err != nil {
			refuse(i, err)
			continue
		}
		reports, places = append(reports, report), append(places, i)
	}
	if len(reports) == 0 {
		return report, nil
	}
	reported, refused, err := r.store.ReportFindings(ctx, reports)
	if err != nil {
		return FindingReport{}, err
	}
	for i, one := range reported {
		if refused[i] != nil {
			refuse(places[i], refused[i])
			continue
		}
		report.IDs[places[i]] = one.Finding.ID
		switch {
		case one.New:
			report.New++
		case one.Reopened:
			report.Reopened++
			report.SeenAgain++
		default:
			report.SeenAgain++
		}
	}
	sortRefusals(report.Refused)
	return report, nil
}

// report checks a draft and makes of it what the store is to look for and to keep.
func (r *Recon) report(ctx context.Context, draft FindingDraft) (FindingRecord, error) {
	draft.Environment, draft.CVE = cleanName(draft.Environment), strings.ToUpper(strings.TrimSpace(draft.CVE))
	draft.Title, draft.Location = strings.TrimSpace(draft.Title), strings.TrimSpace(draft.Location)
	draft.Title = cmp.Or(draft.Title, draft.CVE)
	by, err := acting(ctx, "agent_id", draft.AgentID, draft.check())
	if err != nil {
		return FindingRecord{}, err
	}
	draft.AgentID = by
	redactEach(&draft.Title, &draft.Description, &draft.Location, &draft.Evidence, &draft.Remediation)
	return FindingRecord{
		Draft: draft, ID: check.NewID(), Fingerprint: fingerprint(draft), At: r.now.Stamp(),
		Environment: r.environment(draft.Environment),
	}, nil
}

// Finding implements ReconService.
func (r *Recon) Finding(ctx context.Context, id string) (Finding, error) {
	return reading(ctx, nil, func() (Finding, error) { return r.store.Finding(ctx, id) })
}

// Findings implements ReconService.
func (r *Recon) Findings(ctx context.Context, filter FindingFilter) ([]Finding, error) {
	return reading(ctx, filter.check(), func() ([]Finding, error) { return r.store.ListFindings(ctx, filter) })
}

// Decide implements ReconService.
func (r *Recon) Decide(ctx context.Context, id string, decision FindingDecision) (Finding, error) {
	by, err := acting(ctx, "agent_id", decision.AgentID, decision.check())
	if err != nil {
		return Finding{}, err
	}
	redactEach(&decision.Note)
	now := r.now.Stamp()
	return r.store.ChangeFinding(ctx, id, func(f *Finding) (*FindingChange, *eventlog.Event) {
		if f.Status == decision.Status && decision.Note == "" {
			return nil, nil
		}
		change := FindingChange{At: now, AgentID: by, From: f.Status, To: decision.Status, Note: decision.Note}
		f.Status, f.UpdatedAt = decision.Status, now
		e := FindingEvent(EventFindingDecided, *f, change.From, by, now)
		return &change, &e
	})
}

// History implements ReconService.
func (r *Recon) History(ctx context.Context, id string) ([]FindingChange, error) {
	if _, err := r.Finding(ctx, id); err != nil {
		return nil, err
	}
	return r.store.ListFindingChanges(ctx, id, MaxLimit)
}

// Summary implements ReconService.
func (r *Recon) Summary(ctx context.Context, filter FindingFilter) (FindingSummary, error) {
	return reading(ctx, filter.check(), func() (FindingSummary, error) { return r.store.SummarizeFindings(ctx, filter) })
}

// environment is what becomes of a name that no environment has yet.
func (r *Recon) environment(name string) Environment {
	now := r.now.Stamp()
	return Environment{ID: check.NewID(), Name: name, CreatedAt: now, UpdatedAt: now}
}
