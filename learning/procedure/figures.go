package procedure

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

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
