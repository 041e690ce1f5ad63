package procedure

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/redact"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/condition"
)

// begin makes the run of a procedure, with the parameters put into its steps.
func begin(stored Stored, draft RunDraft) (StoredRun, error) {
	params, err := runParams(stored.Body.Params, draft.Params)
	if err != nil {
		return StoredRun{}, err
	}
	run := StoredRun{Of: stored.Number, Run: Run{
		Persona: stored.Persona, Procedure: stored.Name, Version: stored.Version, Project: draft.Project, Params: params, Status: RunRunning,
	}}
	for i, step := range stored.Body.Steps {
		if step, err = fillStep(i, step, params); err != nil {
			return StoredRun{}, err
		}
		run.Steps = append(run.Steps, RunStep{Index: i, Step: step, Status: StepPending})
	}
	return run, nil
}

// runParams checks the parameters that a run is given, and adds the defaults.
// A procedure that declares none takes any, for its conditions.
func runParams(declared []Param, given map[string]json.RawMessage) (map[string]json.RawMessage, error) {
	if len(given) > MaxParams {
		return nil, errs.InvalidField("params", "are more than %d", MaxParams)
	}
	params := map[string]json.RawMessage{}
	for name, raw := range given {
		field := "params." + name
		if len(declared) > 0 && !hasParam(declared, name) {
			return nil, errs.InvalidField("params", "hold %.*q, which the procedure does not declare", check.MaxName, name)
		}
		if err := checkParamName("params", name); err != nil {
			return nil, err
		}
		var redaction redact.Redaction
		value, err := learning.CleanJSON(&redaction, field, raw, MaxParamValue)
		if err != nil {
			return nil, err
		}
		if kinds := redaction.Kinds(); len(kinds) > 0 {
			return nil, errs.InvalidField(field, "holds a secret (%s), which is not stored: let the command read it from the environment", kinds[0])
		}
		if value == nil {
			return nil, errs.InvalidField(field, "is empty: it must be JSON")
		}
		params[name] = value
	}
	for _, param := range declared {
		if _, ok := params[param.Name]; ok {
			continue
		}
		if param.Default == nil {
			return nil, errs.InvalidField("params."+param.Name, "is required")
		}
		params[param.Name] = param.Default
	}
	return params, nil
}

// out returns the step that is in somebody's hands, -1 if none is.
func (r *Run) out() int {
	return slices.IndexFunc(r.Steps, func(s RunStep) bool { return s.Status == StepHandedOut })
}

// point lets Next point to the step that was handed out or, if none was, to
// the first that has not had its turn.
func (r *Run) point() {
	r.Next = nil
	if r.Status != RunRunning {
		return
	}
	at := r.out()
	for i := 0; at < 0 && i < len(r.Steps); i++ {
		if r.Steps[i].Status == StepPending {
			at = i
		}
	}
	if at >= 0 {
		next := r.Steps[at]
		r.Next = &next
	}
}

// advance goes on to the step that is due, and ends the run after the last. It
// returns the steps that changed. The run is as far as it came when there is an error.
func (r *Run) advance(ctx context.Context, at time.Time, fact func(ctx context.Context, key string) (json.RawMessage, bool, error)) (touched []int, err error) {
	if r.Status != RunRunning || r.out() >= 0 {
		return nil, nil
	}
	for i := range r.Steps {
		step := &r.Steps[i]
		if step.Status != StepPending {
			continue
		}
		held, err := r.due(ctx, step.Condition, fact)
		switch {
		case errs.CodeOf(err) == errs.Invalid:
			// Nobody can say whether this step was to be done, and nothing that is reported can change it.
			step.Status, step.EndedAt = StepFailed, &at
			step.Error, _ = redact.Text(fmt.Sprintf("the condition of %s (%s) cannot be evaluated: it %s", step.Name, step.Condition, errs.MessageOf(err)))
			touched = append(touched, i)
			if r.stops(step, at) {
				return touched, nil
			}
		case err != nil:
			return touched, err
		case held:
			step.Status, step.Attempt, step.HandedOutAt = StepHandedOut, 1, &at
			return append(touched, i), nil
		default:
			step.Status, step.EndedAt, step.Reason = StepSkipped, &at, "its condition does not hold: "+step.Condition
			touched = append(touched, i)
		}
	}
	r.Status, r.EndedAt = RunSucceeded, &at
	return touched, nil
}

// due tells whether a condition holds now.
func (r *Run) due(ctx context.Context, c string, fact func(ctx context.Context, key string) (json.RawMessage, bool, error)) (bool, error) {
	if c == "" {
		return true, nil
	}
	compiled, err := condition.Compile(c)
	if err != nil {
		return false, err
	}
	env := condition.Env{Params: r.Params, Fact: fact}
	for _, step := range r.Steps {
		if len(step.Result) > 0 {
			env.Results = append(env.Results, condition.StepResult{Step: step.Name, Value: step.Result})
		}
	}
	return compiled.Holds(ctx, env)
}

// stops ends the run after a step that failed, or whose outcome is unknown,
// unless the step says to go on; it tells whether it did.
func (r *Run) stops(step *RunStep, at time.Time) bool {
	if step.OnFailure == OnFailureContinue {
		return false
	}
	r.Status, r.EndedAt = RunFailed, &at
	r.Reason = fmt.Sprintf("step %d (%s) failed", step.Index+1, step.Name)
	if step.Status == StepUnknown {
		r.Reason = fmt.Sprintf("how step %d (%s) went is unknown", step.Index+1, step.Name)
	}
	if step.Error != "" {
		r.Reason += ": " + learning.FirstLine(step.Error)
	}
	if len(r.Reason) > MaxText {
		r.Reason = check.Head(r.Reason, MaxText)
	}
	return true
}

// report takes in how a step went. It tells whether the run says so now and did not before.
func (r *Run) report(report StepReport, at time.Time) (bool, error) {
	if report.Index < 0 || report.Index >= len(r.Steps) {
		return false, errs.InvalidField("index", "must lie between 0 and %d: the run has %d steps", len(r.Steps)-1, len(r.Steps))
	}
	step := &r.Steps[report.Index]
	switch {
	case step.Status == StepPending:
		return false, errs.Errorf(errs.Conflict, "step %d (%s) has not been handed out", step.Index+1, step.Name)
	case report.Attempt > step.Attempt:
		return false, errs.InvalidField("attempt", "is one that has not been handed out: the latest is %d", step.Attempt)
	case report.Attempt > 0 && report.Attempt < step.Attempt:
		return false, errs.Errorf(errs.Conflict, "step %d (%s) was handed out again since: attempt %d counts as unknown", step.Index+1, step.Name, report.Attempt)
	case step.Status != StepHandedOut:
		if step.Status == report.Status && string(step.Result) == string(report.Result) && step.Error == report.Error && step.Attempt > 0 {
			return false, nil
		}
		return false, errs.Errorf(errs.Conflict, "step %d (%s) has ended already: it is %s", step.Index+1, step.Name, step.Status)
	}
	step.Status, step.Result, step.Error, step.EndedAt = report.Status, report.Result, report.Error, &at
	if report.Duration != nil {
		step.Duration = *report.Duration
	} else {
		step.Duration = max(at.Sub(*step.HandedOutAt).Seconds(), 0)
	}
	if step.Status == StepFailed || step.Status == StepUnknown {
		r.stops(step, at)
	}
	return true, nil
}
