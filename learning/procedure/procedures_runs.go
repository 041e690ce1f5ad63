package procedure

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/internal/redact"
	"github.com/skillrouter/skillrouter/internal/safetext"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

// runTries bounds how often a change of a run is decided anew because another came between.
const runTries = 10

// Start implements Service.
func (p *Procedures) Start(ctx context.Context, draft RunDraft) (Run, error) {
	author, err := principal.Of(ctx).ActingAs("agent_id", draft.AgentID)
	if err != nil {
		return Run{}, err
	}
	ref := Ref{Persona: draft.Persona, Name: draft.Name}
	if err := cmp.Or(checkRef(&ref), check.Name("project", draft.Project)); err != nil {
		return Run{}, err
	}
	stored, err := p.stored(ctx, ref)
	if err != nil {
		return Run{}, err
	}
	run, err := begin(stored, draft)
	if err != nil {
		return Run{}, err
	}
	at := p.now.Stamp()
	run.ID, run.AgentID, run.StartedAt = check.NewID(), author, at
	if _, err := run.advance(ctx, at, p.factsOf(run.Persona)); err != nil {
		return Run{}, err
	}
	err = p.store.ChangeProcedures(ctx, func(tx Tx) error {
		if err := tx.AddRun(&run); err != nil {
			return err
		}
		if err := addRunEvent(tx, EventRunStarted, run, -1, at); err != nil {
			return err
		}
		return p.tell(tx, &run, at)
	}, nil)()
	if err != nil {
		return Run{}, err
	}
	p.propose(ctx, &run)
	run.point()
	return run.Run, nil
}

// condition.factsOf returns the look-up of a persona's facts for conditions.
func (p *Procedures) factsOf(persona string) func(ctx context.Context, key string) (json.RawMessage, bool, error) {
	if p.facts == nil {
		return nil
	}
	return func(ctx context.Context, key string) (json.RawMessage, bool, error) {
		return p.facts(ctx, persona, key)
	}
}

// Run implements Service.
func (p *Procedures) Run(ctx context.Context, id string) (Run, error) {
	if err := principal.Of(ctx).Need(principal.ScopeRead); err != nil {
		return Run{}, err
	}
	run, err := p.storedRun(ctx, id)
	run.point()
	return run.Run, err
}

func (p *Procedures) storedRun(ctx context.Context, id string) (StoredRun, error) {
	if err := learning.CheckID("run_id", id); err != nil {
		return StoredRun{}, err
	}
	run, ok, err := p.store.StoredRun(ctx, id)
	if err == nil && !ok {
		err = errs.Errorf(errs.NotFound, "there is no such run")
	}
	return run, err
}

// Runs implements Service. The runs are without the results of their steps.
func (p *Procedures) Runs(ctx context.Context, filter RunFilter) ([]Run, error) {
	if err := cmp.Or(
		principal.Of(ctx).Need(principal.ScopeRead),
		check.Names("persona", filter.Persona, "procedure", filter.Procedure, "agent_id", filter.AgentID),
		check.Optional("status", filter.Status, RunStatuses()),
		check.SetLimit(&filter.Limit, learning.DefaultEpisodeLimit, learning.MaxLimit),
	); err != nil {
		return nil, err
	}
	runs, err := p.store.ListRuns(ctx, filter)
	for i := range runs {
		runs[i].point()
	}
	return runs, err
}

// RunStatuses lists the statuses of a run.
func RunStatuses() []RunStatus {
	return []RunStatus{RunRunning, RunSucceeded, RunFailed, RunAbandoned}
}

// Choices are the values as texts, for whoever asks for one.
func (RunStatus) Choices() []string { return safetext.Strings(RunStatuses()) }

// Next implements Service.
func (p *Procedures) Next(ctx context.Context, request StepRequest) (Run, error) {
	return p.change(ctx, request.RunID, func(run *Run, at time.Time) ([]int, error) {
		if run.Status != RunRunning {
			return nil, ended(run)
		}
		i := run.out()
		if i < 0 {
			return nil, nil // what is due is handed out by going on
		}
		step := &run.Steps[i]
		if !request.Again {
			return nil, errs.Errorf(errs.Conflict, "step %d (%s) was handed out at %s and nobody has said how it went: report it, or ask for it again, and what became of attempt %d counts as unknown",
				i+1, step.Name, step.HandedOutAt.Format(time.RFC3339), step.Attempt)
		}
		if step.Attempt >= MaxStepAttempts {
			return nil, errs.Errorf(errs.Conflict, "step %d (%s) was handed out %d times: report it, or abandon the run", i+1, step.Name, step.Attempt)
		}
		step.Reason = fmt.Sprintf("handed out again: how attempt %d, of %s, went is unknown", step.Attempt, step.HandedOutAt.Format(time.RFC3339))
		step.Attempt++
		step.HandedOutAt = &at
		return []int{i}, nil
	})
}

// Report implements Service.
func (p *Procedures) Report(ctx context.Context, report StepReport) (Run, error) {
	if err := principal.Of(ctx).Need(principal.ScopeAgent); err != nil {
		return Run{}, err
	}
	if err := cleanReport(&report); err != nil {
		return Run{}, err
	}
	return p.change(ctx, report.RunID, func(run *Run, at time.Time) ([]int, error) {
		told, err := run.report(report, at)
		if !told {
			return nil, err
		}
		return []int{report.Index}, nil
	})
}

// cleanReport checks a report and cuts its secrets out.
func cleanReport(report *StepReport) (err error) {
	switch report.Status {
	case StepSucceeded, StepFailed, StepSkipped, StepUnknown:
	default:
		return errs.InvalidField("status", "must be one of %v", []StepStatus{StepSucceeded, StepFailed, StepSkipped, StepUnknown})
	}
	if report.Attempt < 0 {
		return errs.InvalidField("attempt", "may not be negative")
	}
	if err := cmp.Or(check.Text("error", report.Error, MaxText), check.OptionalRange("duration", report.Duration, 0, MaxStepDuration)); err != nil {
		return err
	}
	var redaction redact.Redaction
	redaction.Text(&report.Error)
	if report.Result, err = learning.CleanJSON(&redaction, "result", report.Result, MaxStepResult); string(report.Result) == "null" {
		report.Result = nil
	}
	return err
}

// Abandon implements Service.
func (p *Procedures) Abandon(ctx context.Context, id, reason string) (Run, error) {
	if err := check.Text("reason", reason, MaxText); err != nil {
		return Run{}, err
	}
	reason, _ = redact.Text(check.OneLine(reason))
	return p.change(ctx, id, func(run *Run, at time.Time) (touched []int, err error) {
		switch run.Status {
		case RunRunning:
		case RunAbandoned:
			return nil, nil
		default:
			return nil, ended(run)
		}
		if i := run.out(); i >= 0 {
			step := &run.Steps[i]
			step.Status, step.EndedAt, step.Reason = StepUnknown, &at, "the run was abandoned before anybody said how it went"
			touched = append(touched, i)
		}
		run.Status, run.Reason, run.EndedAt = RunAbandoned, reason, &at
		return touched, nil
	})
}

func ended(run *Run) error {
	return errs.Errorf(errs.Conflict, "the run has ended: it %s", run.Status)
}

// errMoved means that a run was changed while its next change was decided.
var errMoved = errors.New("the run was changed meanwhile")

// change changes a run by apply, which returns the steps that it changed, and
// goes on to the step that is due. Conditions are evaluated before the change
// takes its place among the writes; if the run has moved by then, all is decided anew.
func (p *Procedures) change(ctx context.Context, id string, apply func(run *Run, at time.Time) (touched []int, err error)) (Run, error) {
	caller := principal.Of(ctx)
	if err := caller.Need(principal.ScopeAgent); err != nil {
		return Run{}, err
	}
	for range runTries {
		run, err := p.storedRun(ctx, id)
		if err != nil {
			return Run{}, err
		}
		if run.AgentID != "" {
			if err := caller.ActAs(run.AgentID); err != nil {
				return Run{}, err
			}
		}
		before, at := run.Status, p.now.Stamp()
		touched, err := apply(&run.Run, at)
		if err != nil {
			return Run{}, err
		}
		on, notDue := run.advance(ctx, at, p.factsOf(run.Persona))
		touched = append(touched, on...)
		if notDue != nil && len(touched) == 0 {
			return Run{}, notDue
		}
		if len(touched) == 0 && run.Status == before {
			run.point()
			return run.Run, nil
		}
		err = p.store.ChangeProcedures(ctx, func(tx Tx) error {
			fresh := run // decide may be called twice
			ok, err := tx.PutRun(&fresh, touched)
			if err != nil {
				return err
			}
			if !ok {
				return errMoved
			}
			return p.tell(tx, &fresh, at)
		}, nil)()
		if errors.Is(err, errMoved) {
			continue
		}
		if err != nil {
			return Run{}, err
		}
		if notDue != nil {
			p.log.WarnContext(ctx, "the next step of a run could not be found and waits to be asked for", "run", id, "error", notDue)
		}
		p.propose(ctx, &run)
		run.point()
		return run.Run, nil
	}
	return Run{}, errs.Errorf(errs.Unavailable, "others change this run all the time: ask again")
}

// tell writes the events of a change of a run and, if it has ended, the figures.
func (p *Procedures) tell(tx Tx, run *StoredRun, at time.Time) error {
	if run.Status == RunRunning {
		if i := run.out(); i >= 0 && run.Steps[i].HandedOutAt.Equal(at) {
			return addRunEvent(tx, EventRunStep, *run, i, at)
		}
		return nil
	}
	if err := count(tx, run); err != nil {
		return err
	}
	return addRunEvent(tx, EventRunEnded, *run, -1, at)
}

func addRunEvent(tx Tx, kind string, run StoredRun, step int, at time.Time) error {
	event := RunEvent{Persona: run.Persona, Procedure: run.Procedure, Version: run.Version, Status: run.Status}
	if step >= 0 {
		event.Step, event.Index, event.Attempt = run.Steps[step].Name, &step, run.Steps[step].Attempt
	}
	return tx.AddEvents(eventlog.Event{Type: kind, Subject: run.ID, Agent: run.AgentID, Project: run.Project, At: at}.With(event))
}

// When a step keeps failing, and a lesson is proposed.
const (
	// RecentOutcomes is how many of a step's last outcomes are looked at.
	RecentOutcomes = 5
	// StepFailuresToLearn is how many of these are failures when the step keeps failing:
	// most of them, and no single bad day.
	StepFailuresToLearn = 3
)

// count adds a run that has ended to the figures of its procedure, in the same
// transaction. An abandoned run says how its steps went, and nothing about the whole.
func count(tx Tx, run *StoredRun) error {
	stored, ok, err := tx.ProcedureOf(run.Of)
	if err != nil || !ok || stored.DeletedAt != nil {
		return err
	}
	if run.Status != RunAbandoned {
		stored.Runs++
	}
	if run.Status == RunSucceeded {
		stored.Succeeded++
		stored.Took += max(run.EndedAt.Sub(run.StartedAt).Seconds(), 0)
	}
	if err := tx.PutProcedure(&stored); err != nil {
		return err
	}
	records, err := tx.StepRecords(run.Of)
	if err != nil {
		return err
	}
	for _, step := range run.Steps {
		record := records[step.Name]
		record.Name = step.Name
		if !record.add(step) {
			continue
		}
		if err := tx.PutStepRecord(run.Of, record); err != nil {
			return err
		}
	}
	return nil
}

// add counts a step of a run; it tells whether there was something to count.
func (r *StepRecord) add(step RunStep) bool {
	again := int64(max(step.Attempt-1, 0)) // attempts that nobody reported
	r.Unknown += again
	switch step.Status {
	case StepSucceeded:
		r.Succeeded++
		r.Took += step.Duration
		r.Recent += "s"
	case StepFailed:
		r.Failed++
		r.Recent += "f"
		r.Errors = append(r.Errors, check.Head(step.Error, 500)) // the proposal quotes them
		r.Errors = r.Errors[max(len(r.Errors)-StepFailuresToLearn, 0):]
	case StepSkipped:
		r.Skipped++
	case StepUnknown:
		r.Unknown++
	default:
		return again > 0
	}
	r.Recent = r.Recent[max(len(r.Recent)-RecentOutcomes, 0):]
	return true
}

// propose proposes a lesson for each step that failed in a run that has ended
// and keeps failing. It comes after the commit: what is lost between the two,
// the step's next failure says again, and the same lesson is stored once.
func (p *Procedures) propose(ctx context.Context, run *StoredRun) {
	if p.lessons == nil || run.Status == RunRunning {
		return
	}
	var records map[string]StepRecord
	for i := range run.Steps {
		step := &run.Steps[i]
		if step.Status != StepFailed {
			continue
		}
		if records == nil {
			var err error
			if records, err = p.store.StepRecords(ctx, run.Of); err != nil {
				p.log.WarnContext(ctx, "how a procedure's steps went cannot be read", "run", run.ID, "error", err)
				return
			}
		}
		record := records[step.Name]
		if strings.Count(record.Recent, "f") < StepFailuresToLearn {
			continue
		}
		reported, err := p.lessons.Report(principal.With(ctx, principal.System()), failingStep(run, step, record))
		if err == nil {
			step.LessonID = reported.LessonID
			err = p.store.ChangeProcedures(ctx, func(tx Tx) error { return tx.SetLesson(run.Number, i, reported.LessonID) }, nil)()
		}
		if err != nil {
			p.log.WarnContext(ctx, "the lesson of a step that keeps failing was not proposed", "run", run.ID, "step", step.Name, "error", err)
		}
	}
}

// failingStep is the lesson that is proposed. What it is known by (its title,
// and what was done) is the same at each failure, so that it is one lesson.
func failingStep(run *StoredRun, step *RunStep, record StepRecord) lesson.Draft {
	var errors strings.Builder
	for _, text := range record.Errors {
		if text != "" {
			errors.WriteString("- " + check.OneLine(text) + "\n")
		}
	}
	return lesson.Draft{
		Type: learning.LessonFailure, Domain: "procedures", Category: "procedure",
		Title:       fmt.Sprintf("Step %s of the procedure %s keeps failing", step.Name, run.Procedure),
		Context:     fmt.Sprintf("Procedure %s of the persona %s, step %s.", run.Procedure, run.Persona, step.Name),
		Action:      fmt.Sprintf("Ran the step %s of the procedure %s.", step.Name, run.Procedure),
		Outcome:     fmt.Sprintf("It failed in at least %d of its last %d outcomes.", StepFailuresToLearn, RecentOutcomes),
		Body:        strings.TrimSpace("Its last errors:\n" + errors.String() + "\nSeen in run " + run.ID + " of version " + fmt.Sprint(run.Version) + ", " + run.EndedAt.Format(time.DateOnly) + "."),
		Tags:        []string{"procedure", run.Procedure},
		SourceAgent: run.AgentID, Project: run.Project,
	}
}
