package learningtest

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/fact"
	"github.com/skillrouter/skillrouter/learning/procedure"
)

// ProcedureWorld is a ProcedureService under test, the facts that its
// conditions see, and the clock that it goes by.
type ProcedureWorld struct {
	Procedures procedure.Service
	Facts      fact.Service
	Advance    func(time.Duration)
}

// Procedures runs the contract of ProcedureService. open is called for each
// case and must give a service on a database of its own, which takes calls as
// principal.Open, and whose clock moves by Advance alone.
func Procedures(t *testing.T, open func(t *testing.T) ProcedureWorld) {
	contract[ProcedureWorld]{
		{"a procedure reads back", procedureReadsBack},
		{"versions follow each other", procedureVersions},
		{"procedures are listed and found", procedureFinds},
		{"pages list each procedure once", procedurePages},
		{"bad procedures are refused by name", procedureRefuses},
		{"a run goes step by step", runGoes},
		{"conditions see parameters, results and facts", runConditions},
		{"a condition that fails fails its step", runConditionFails},
		{"parameters are put in and cannot inject", runParameters},
		{"a step is handed out again only on purpose", runAgain},
		{"the same report again changes nothing", runReportsTwice},
		{"a failure stops or does not", runFailures},
		{"a run is abandoned", runAbandons},
		{"bad reports are refused by name", runRefuses},
		{"of two reports at once one counts", runRaces},
		{"figures follow the runs", runFigures},
		{"a deleted procedure leaves its runs", procedureDeletes},
		{"secrets are cut out", procedureRedacts},
	}.run(t, open)
}

// mrrDrop is the persona memory's example.
func mrrDrop() procedure.Draft {
	return procedure.Draft{
		Persona: "data-analyst", Name: "analyze-mrr-drop", Description: "Standard procedure for investigating MRR drops", Category: "investigation",
		Steps: []procedure.Step{
			{Name: "check_baseline", Description: "Compare current MRR to baseline", Action: "drop_pct = ((baseline - current) / baseline) * 100"},
			{Name: "check_payment_gateway", Description: "Check if payment processor is down", Condition: "drop_pct > 20", Action: "status = Web.get(\"https://stripe.com/status\")"},
			{Name: "check_database_performance", Description: "Look for slow queries", Condition: "root_cause is None", Action: "Database.query(\"SELECT * FROM pg_stat_statements\")"},
		},
		LearnedFrom: json.RawMessage(`[{"episode":"2024-10-15-mrr-drop"}]`), AgentID: "builder-1",
	}
}

func steps(names ...string) (list []procedure.Step) {
	for _, name := range names {
		list = append(list, procedure.Step{Name: name, Action: "do " + name})
	}
	return list
}

func saved(t *testing.T, ctx context.Context, w ProcedureWorld, name string, list ...procedure.Step) {
	t.Helper()
	must[procedure.Saved](t)(w.Procedures.Save(ctx, procedure.Draft{Name: name, Steps: list}))
}

func stepped(t *testing.T, ctx context.Context, w ProcedureWorld, run procedure.Run, status procedure.StepStatus, result string) procedure.Run {
	t.Helper()
	if run.Next == nil {
		t.Fatalf("no step is due: %+v", run)
	}
	return must[procedure.Run](t)(w.Procedures.Report(ctx, procedure.StepReport{RunID: run.ID, Index: run.Next.Index, Status: status, Result: json.RawMessage(result)}))
}

func statuses(run procedure.Run) string {
	var list []string
	for _, step := range run.Steps {
		list = append(list, string(step.Status))
	}
	return string(run.Status) + ": " + strings.Join(list, " ")
}

func stands(t *testing.T, run procedure.Run, want string) {
	t.Helper()
	if got := statuses(run); got != want {
		t.Errorf("the run is %q, not %q", got, want)
	}
}

func procedureReadsBack(t *testing.T, ctx context.Context, w ProcedureWorld) {
	d := mrrDrop()
	got := must[procedure.Saved](t)(w.Procedures.Save(ctx, d))
	if diff := cmp.Diff(procedure.Saved{Persona: d.Persona, Name: d.Name, Version: 1, Changed: true}, got); diff != "" {
		t.Error(diff)
	}
	read := must[procedure.Procedure](t)(w.Procedures.Procedure(ctx, procedure.Ref{Persona: d.Persona, Name: d.Name}))
	want := procedure.Procedure{
		Persona: d.Persona, Name: d.Name, Version: 1, Description: d.Description, Category: d.Category, Steps: d.Steps, LearnedFrom: d.LearnedFrom,
		Author: d.AgentID, Trust: learning.TrustAgent, File: read.File, CreatedAt: read.CreatedAt, UpdatedAt: read.CreatedAt,
		StepStats: []procedure.StepStats{{Name: "check_baseline"}, {Name: "check_payment_gateway"}, {Name: "check_database_performance"}},
	}
	if diff := cmp.Diff(want, read); diff != "" {
		t.Error(diff)
	}
	// The persona memory's debug-test-failure has steps of actions alone.
	saved(t, ctx, w, "debug-test-failure", procedure.Step{Action: "run tests with -vv"}, procedure.Step{Action: "check logs in /tmp/"})
	bare := must[procedure.Procedure](t)(w.Procedures.Procedure(ctx, procedure.Ref{Name: "debug-test-failure"}))
	if bare.Persona != learning.DefaultPersona || bare.Category != learning.DefaultFactCategory || bare.Steps[1].Name != "step-2" {
		t.Errorf("the defaults are %+v", bare)
	}
	refuses(t, errs.NotFound, "")(w.Procedures.Procedure(ctx, procedure.Ref{Name: d.Name}))
}

func procedureVersions(t *testing.T, ctx context.Context, w ProcedureWorld) {
	saved(t, ctx, w, "p", steps("a")...)
	same := must[procedure.Saved](t)(w.Procedures.Save(ctx, procedure.Draft{Name: "p", Steps: steps("a"), Category: "general"}))
	if same.Changed || same.Version != 1 {
		t.Errorf("the same again: %+v", same)
	}
	next := must[procedure.Saved](t)(w.Procedures.Save(ctx, procedure.Draft{Name: "p", Steps: steps("a", "b")}))
	if !next.Changed || next.Version != 2 {
		t.Errorf("another: %+v", next)
	}
	first := must[procedure.Procedure](t)(w.Procedures.Procedure(ctx, procedure.Ref{Name: "p", Version: 1}))
	if first.Version != 1 || len(first.Steps) != 1 {
		t.Errorf("version 1: %+v", first)
	}
	refuses(t, errs.NotFound, "")(w.Procedures.Procedure(ctx, procedure.Ref{Name: "p", Version: 3}))
	refuses(t, errs.Conflict, "")(w.Procedures.Save(ctx, procedure.Draft{Name: "P", Steps: steps("a")}))
}

// procedurePages fills more than an answer holds with bodies whose text grows in JSON.
func procedurePages(t *testing.T, ctx context.Context, w ProcedureWorld) {
	const many = 24
	for i := range many {
		d := mrrDrop()
		d.Name, d.Persona = fmt.Sprintf("p%02d", i), "default"
		d.Steps = nil
		for step := range 36 {
			d.Steps = append(d.Steps, procedure.Step{Name: fmt.Sprint("s", step), Description: strings.Repeat("&", 1150)})
		}
		must[procedure.Saved](t)(w.Procedures.Save(ctx, d))
	}
	seen, after := 0, ""
	for range many {
		page := must[procedure.Page](t)(w.Procedures.List(ctx, procedure.Filter{Persona: "default", After: after, Limit: 100}))
		if seen += len(page.Procedures); page.Next == "" {
			break
		}
		after = page.Next
	}
	if seen != many {
		t.Errorf("%d of %d procedures are on the pages", seen, many)
	}
}

func procedureFinds(t *testing.T, ctx context.Context, w ProcedureWorld) {
	must[procedure.Saved](t)(w.Procedures.Save(ctx, mrrDrop()))
	saved(t, ctx, w, "deploy", procedure.Step{Action: "kubectl rollout restart deployment"})
	saved(t, ctx, w, "backup", procedure.Step{Action: "dump the database to the archive"})
	page := must[procedure.Page](t)(w.Procedures.List(ctx, procedure.Filter{Limit: 1}))
	if page.Count != 1 || page.Procedures[0].Name != "backup" || page.Next == "" {
		t.Fatalf("page = %+v", page)
	}
	page = must[procedure.Page](t)(w.Procedures.List(ctx, procedure.Filter{After: page.Next}))
	if page.Count != 1 || page.Procedures[0].Name != "deploy" || page.Next != "" {
		t.Errorf("page 2 = %+v", page)
	}
	if all := must[procedure.Page](t)(w.Procedures.List(ctx, procedure.Filter{Persona: "*", Category: "investigation"})); all.Count != 1 {
		t.Errorf("of everybody: %+v", all)
	}
	found := must[procedure.Results](t)(w.Procedures.Search(ctx, procedure.Query{Query: "revenue fell, investigate the MRR drop", Persona: "*"}))
	if found.Count == 0 || found.Results[0].Name != "analyze-mrr-drop" {
		t.Errorf("found %+v", found)
	}
	if apart := must[procedure.Results](t)(w.Procedures.Search(ctx, procedure.Query{Query: "MRR drop"})); apart.Count != 0 {
		t.Errorf("another persona's was found: %+v", apart)
	}
	stats := must[procedure.Stats](t)(w.Procedures.Stats(ctx))
	if stats.Personas["data-analyst"] != 1 || stats.Personas[learning.DefaultPersona] != 2 {
		t.Errorf("stats = %+v", stats)
	}
}

func procedureRefuses(t *testing.T, ctx context.Context, w ProcedureWorld) {
	for _, c := range []struct {
		field string
		edit  func(d *procedure.Draft)
	}{
		{"persona", func(d *procedure.Draft) { d.Persona = "../x" }},
		{"name", func(d *procedure.Draft) { d.Name = "" }},
		{"name", func(d *procedure.Draft) { d.Name = "../etc" }},
		{"name", func(d *procedure.Draft) { d.Name = "a/b" }},
		{"name", func(d *procedure.Draft) { d.Name = strings.Repeat("a", 101) }},
		{"steps", func(d *procedure.Draft) { d.Steps = nil }},
		{"steps", func(d *procedure.Draft) { d.Steps = make([]procedure.Step, procedure.MaxSteps+1) }},
		{"steps[0]", func(d *procedure.Draft) { d.Steps = []procedure.Step{{Name: "a"}} }},
		{"steps[1].name", func(d *procedure.Draft) { d.Steps = steps("a", "a") }},
		{"steps[0].condition", func(d *procedure.Draft) { d.Steps[0].Condition = "1 in 1..100000000" }},
		{"steps[0].condition", func(d *procedure.Draft) { d.Steps[0].Condition = "import os" }},
		{"steps[0].action", func(d *procedure.Draft) { d.Steps[0].Action = "deploy ${nobody}" }},
		{"steps[0].action", func(d *procedure.Draft) { d.Steps[0].Action = "nul\x00" }},
		{"steps[0].run", func(d *procedure.Draft) { d.Steps[0].Run = "echo ${HOME}" }},
		{"steps[0].run", func(d *procedure.Draft) { d.Steps[0].Run = `echo "${p}"` }},
		{"steps[0].run", func(d *procedure.Draft) { d.Steps[0].Run = `sh -c 'echo ${p}'` }},
		{"steps[0].run", func(d *procedure.Draft) { d.Steps[0].Run = "echo `echo ${p}`" }},
		{"steps[0].run", func(d *procedure.Draft) { d.Steps[0].Run = "echo $((${p} + 1))" }},
		{"steps[0].run", func(d *procedure.Draft) { d.Steps[0].Run = "cat <<EOF\n${p}\nEOF" }},
		{"steps[0].run", func(d *procedure.Draft) { d.Steps[0].Run = "echo ${p} # ${p}" }},
		{"steps[0].timeout", func(d *procedure.Draft) { d.Steps[0].Timeout = -1 }},
		{"steps[0].on_failure", func(d *procedure.Draft) { d.Steps[0].OnFailure = "panic" }},
		{"params[1].name", func(d *procedure.Draft) { d.Params = append(d.Params, procedure.Param{Name: "p"}) }},
		{"params[1].name", func(d *procedure.Draft) { d.Params = append(d.Params, procedure.Param{Name: "results"}) }},
		{"params[1].name", func(d *procedure.Draft) { d.Params = append(d.Params, procedure.Param{Name: "a-b"}) }},
	} {
		d := procedure.Draft{Name: "p", Steps: steps("a"), Params: []procedure.Param{{Name: "p"}}}
		c.edit(&d)
		refuses(t, errs.Invalid, c.field)(w.Procedures.Save(ctx, d))
	}
	d := procedure.Draft{Name: "p", Steps: steps("a")}
	d.Steps[0].Action = strings.Repeat("x", procedure.MaxAction+1)
	refuses(t, errs.TooLarge, "steps[0].action")(w.Procedures.Save(ctx, d))
}

func runGoes(t *testing.T, ctx context.Context, w ProcedureWorld) {
	must[procedure.Saved](t)(w.Procedures.Save(ctx, mrrDrop()))
	run := must[procedure.Run](t)(w.Procedures.Start(ctx, procedure.RunDraft{Persona: "data-analyst", Name: "analyze-mrr-drop", AgentID: "builder-1", Project: "shop"}))
	stands(t, run, "running: handed_out pending pending")
	if run.Next == nil || run.Next.Index != 0 || run.Next.Attempt != 1 || run.Version != 1 || run.AgentID != "builder-1" {
		t.Fatalf("run = %+v", run)
	}
	w.Advance(90 * time.Second)
	run = stepped(t, ctx, w, run, procedure.StepSucceeded, `{"drop_pct": 31, "root_cause": null}`)
	stands(t, run, "running: succeeded handed_out pending")
	if run.Steps[0].Duration != 90 || string(run.Steps[0].Result) != `{"drop_pct":31,"root_cause":null}` {
		t.Errorf("step 0 = %+v", run.Steps[0])
	}
	run = stepped(t, ctx, w, run, procedure.StepSucceeded, `{"root_cause":"payment gateway outage"}`)
	stands(t, run, "succeeded: succeeded succeeded skipped")
	if run.Next != nil || run.EndedAt == nil || !strings.Contains(run.Steps[2].Reason, "root_cause is None") {
		t.Errorf("run = %+v", run)
	}
	read := must[procedure.Run](t)(w.Procedures.Run(ctx, run.ID))
	if diff := cmp.Diff(run, read); diff != "" {
		t.Error(diff)
	}
	list := must[[]procedure.Run](t)(w.Procedures.Runs(ctx, procedure.RunFilter{AgentID: "builder-1", Status: procedure.RunSucceeded}))
	if len(list) != 1 || list[0].ID != run.ID || statuses(list[0]) != statuses(run) {
		t.Errorf("runs = %+v", list)
	}
	if open := must[[]procedure.Run](t)(w.Procedures.Runs(ctx, procedure.RunFilter{AgentID: "builder-1", Status: procedure.RunRunning})); len(open) != 0 {
		t.Errorf("open runs = %+v", open)
	}
	refuses(t, errs.Conflict, "")(w.Procedures.Next(ctx, procedure.StepRequest{RunID: run.ID}))
	refuses(t, errs.NotFound, "")(w.Procedures.Run(ctx, "nobody"))
}

func runConditions(t *testing.T, ctx context.Context, w ProcedureWorld) {
	list := steps("first", "if_param", "if_fact", "if_result")
	list[1].Condition, list[2].Condition, list[3].Condition = "dry_run", "fact('queue.length') > 100", "results.first.exit_code != 0 and fact('none') is None"
	saved(t, ctx, w, "p", list...)
	must[fact.Stored](t)(w.Facts.Remember(ctx, factWorld("queue.length", "150")))
	run := must[procedure.Run](t)(w.Procedures.Start(ctx, procedure.RunDraft{Name: "p", Params: map[string]json.RawMessage{"dry_run": json.RawMessage("false")}}))
	run = stepped(t, ctx, w, run, procedure.StepSucceeded, `{"exit_code":3}`)
	stands(t, run, "running: succeeded skipped handed_out pending")
	run = stepped(t, ctx, w, run, procedure.StepSucceeded, ``)
	stands(t, run, "running: succeeded skipped succeeded handed_out")
}

func runConditionFails(t *testing.T, ctx context.Context, w ProcedureWorld) {
	list := steps("a", "b", "c")
	list[1].Condition, list[1].OnFailure, list[2].Condition = "1 / count > 1", procedure.OnFailureContinue, "nobody_said > 1"
	saved(t, ctx, w, "p", list...)
	run := must[procedure.Run](t)(w.Procedures.Start(ctx, procedure.RunDraft{Name: "p", Params: map[string]json.RawMessage{"count_of": json.RawMessage("0")}}))
	run = stepped(t, ctx, w, run, procedure.StepSucceeded, `{"count":0}`)
	stands(t, run, "failed: succeeded failed failed")
	for i, says := range map[int]string{1: "divides by zero", 2: "nobody_said"} {
		if step := run.Steps[i]; !strings.Contains(step.Error, says) || !strings.Contains(step.Error, "condition of "+step.Name) {
			t.Errorf("step %d says %q", i, step.Error)
		}
	}
}

func runParameters(t *testing.T, ctx context.Context, w ProcedureWorld) {
	d := procedure.Draft{Name: "p", Params: []procedure.Param{{Name: "who"}, {Name: "times", Default: json.RawMessage("3")}}, Steps: []procedure.Step{
		{Action: "greet ${who} ${times} times, $${who}", Run: "greet --times=${times} ${who} $HOME \"$(echo hi)\""},
	}}
	must[procedure.Saved](t)(w.Procedures.Save(ctx, d))
	for name, params := range map[string]map[string]json.RawMessage{
		"params.who":   nil,
		"params":       {"who": json.RawMessage("1"), "what": json.RawMessage("1")},
		"params.times": {"who": json.RawMessage("1"), "times": json.RawMessage(`"` + strings.Repeat("x", procedure.MaxParamValue) + `"`)},
	} {
		_, err := w.Procedures.Start(ctx, procedure.RunDraft{Name: "p", Params: params})
		code := errs.Invalid
		if name == "params.times" {
			code = errs.TooLarge
		}
		refused(t, err, code, name)
	}
	run := must[procedure.Run](t)(w.Procedures.Start(ctx, procedure.RunDraft{Name: "p", Params: map[string]json.RawMessage{"who": json.RawMessage(`"x'; rm -rf / #$(id)"`)}}))
	step := run.Next
	if want := "greet x'; rm -rf / #$(id) 3 times, ${who}"; step.Action != want {
		t.Errorf("action = %q, not %q", step.Action, want)
	}
	if want := `greet --times=3 "x'; rm -rf / #\$(id)" $HOME "$(echo hi)"`; step.Run != want {
		t.Errorf("run = %q, not %q", step.Run, want)
	}
}

func runAgain(t *testing.T, ctx context.Context, w ProcedureWorld) {
	saved(t, ctx, w, "p", steps("a", "b")...)
	run := must[procedure.Run](t)(w.Procedures.Start(ctx, procedure.RunDraft{Name: "p"}))
	refuses(t, errs.Conflict, "")(w.Procedures.Next(ctx, procedure.StepRequest{RunID: run.ID}))
	w.Advance(time.Minute)
	again := must[procedure.Run](t)(w.Procedures.Next(ctx, procedure.StepRequest{RunID: run.ID, Again: true}))
	if next := again.Next; next == nil || next.Attempt != 2 || next.Status != procedure.StepHandedOut || !strings.Contains(next.Reason, "unknown") || !next.HandedOutAt.After(*run.Next.HandedOutAt) {
		t.Fatalf("again = %+v", again.Next)
	}
	refuses(t, errs.Conflict, "")(w.Procedures.Report(ctx, procedure.StepReport{RunID: run.ID, Index: 0, Attempt: 1, Status: procedure.StepSucceeded}))
	refuses(t, errs.Invalid, "attempt")(w.Procedures.Report(ctx, procedure.StepReport{RunID: run.ID, Index: 0, Attempt: 3, Status: procedure.StepSucceeded}))
	done := must[procedure.Run](t)(w.Procedures.Report(ctx, procedure.StepReport{RunID: run.ID, Index: 0, Attempt: 2, Status: procedure.StepSucceeded}))
	stands(t, done, "running: succeeded handed_out")
	done = stepped(t, ctx, w, done, procedure.StepSucceeded, "")
	read := must[procedure.Procedure](t)(w.Procedures.Procedure(ctx, procedure.Ref{Name: "p"}))
	if s := read.StepStats[0]; s.Unknown != 1 || s.Succeeded != 1 {
		t.Errorf("figures = %+v, of %s", s, statuses(done))
	}
}

func runReportsTwice(t *testing.T, ctx context.Context, w ProcedureWorld) {
	saved(t, ctx, w, "p", steps("a", "b")...)
	run := must[procedure.Run](t)(w.Procedures.Start(ctx, procedure.RunDraft{Name: "p"}))
	report := procedure.StepReport{RunID: run.ID, Index: 0, Status: procedure.StepFailed, Error: "exit 1", Result: json.RawMessage(`{ "exit_code": 1 }`)}
	report.Status = procedure.StepSucceeded
	first := must[procedure.Run](t)(w.Procedures.Report(ctx, report))
	w.Advance(time.Minute)
	second := must[procedure.Run](t)(w.Procedures.Report(ctx, report))
	if diff := cmp.Diff(first, second); diff != "" {
		t.Error(diff)
	}
	report.Status = procedure.StepFailed
	refuses(t, errs.Conflict, "")(w.Procedures.Report(ctx, report))
	refuses(t, errs.Invalid, "attempt")(w.Procedures.Report(ctx, procedure.StepReport{RunID: run.ID, Index: 1, Attempt: 2, Status: procedure.StepSucceeded}))
}

func runFailures(t *testing.T, ctx context.Context, w ProcedureWorld) {
	list := steps("a", "b", "c")
	list[0].OnFailure = procedure.OnFailureContinue
	saved(t, ctx, w, "p", list...)
	run := must[procedure.Run](t)(w.Procedures.Start(ctx, procedure.RunDraft{Name: "p"}))
	run = stepped(t, ctx, w, run, procedure.StepFailed, "")
	stands(t, run, "running: failed handed_out pending")
	run = must[procedure.Run](t)(w.Procedures.Report(ctx, procedure.StepReport{RunID: run.ID, Index: 1, Status: procedure.StepFailed, Error: "the disk is full\nand more"}))
	stands(t, run, "failed: failed failed pending")
	if run.Reason != "step 2 (b) failed: the disk is full" {
		t.Errorf("reason = %q", run.Reason)
	}
	run = must[procedure.Run](t)(w.Procedures.Start(ctx, procedure.RunDraft{Name: "p"}))
	run = stepped(t, ctx, w, run, procedure.StepSkipped, "")
	run = stepped(t, ctx, w, run, procedure.StepUnknown, "")
	stands(t, run, "failed: skipped unknown pending")
}

func runAbandons(t *testing.T, ctx context.Context, w ProcedureWorld) {
	saved(t, ctx, w, "p", steps("a", "b")...)
	run := must[procedure.Run](t)(w.Procedures.Start(ctx, procedure.RunDraft{Name: "p"}))
	run = must[procedure.Run](t)(w.Procedures.Abandon(ctx, run.ID, "it is late"))
	stands(t, run, "abandoned: unknown pending")
	if run.Reason != "it is late" || run.EndedAt == nil {
		t.Errorf("run = %+v", run)
	}
	must[procedure.Run](t)(w.Procedures.Abandon(ctx, run.ID, "again"))
	refuses(t, errs.Conflict, "")(w.Procedures.Report(ctx, procedure.StepReport{RunID: run.ID, Index: 0, Status: procedure.StepSucceeded}))
	if read := must[procedure.Procedure](t)(w.Procedures.Procedure(ctx, procedure.Ref{Name: "p"})); read.Runs != 0 || read.StepStats[0].Unknown != 1 {
		t.Errorf("figures = %+v", read)
	}
}

func runRefuses(t *testing.T, ctx context.Context, w ProcedureWorld) {
	saved(t, ctx, w, "p", steps("a", "b")...)
	run := must[procedure.Run](t)(w.Procedures.Start(ctx, procedure.RunDraft{Name: "p"}))
	past := -1.0
	for _, c := range []struct {
		code   errs.Code
		field  string
		report procedure.StepReport
	}{
		{errs.Invalid, "status", procedure.StepReport{Status: "fine"}},
		{errs.Invalid, "index", procedure.StepReport{Index: 2, Status: procedure.StepFailed}},
		{errs.Invalid, "index", procedure.StepReport{Index: -1, Status: procedure.StepFailed}},
		{errs.Conflict, "", procedure.StepReport{Index: 1, Status: procedure.StepFailed}},
		{errs.Invalid, "duration", procedure.StepReport{Status: procedure.StepFailed, Duration: &past}},
		{errs.TooLarge, "result", procedure.StepReport{Status: procedure.StepFailed, Result: json.RawMessage(`"` + strings.Repeat("x", procedure.MaxStepResult) + `"`)}},
		{errs.TooLarge, "error", procedure.StepReport{Status: procedure.StepFailed, Error: strings.Repeat("x", procedure.MaxText+1)}},
		{errs.NotFound, "", procedure.StepReport{RunID: "nobody", Status: procedure.StepFailed}},
	} {
		if c.report.RunID == "" {
			c.report.RunID = run.ID
		}
		refuses(t, c.code, c.field)(w.Procedures.Report(ctx, c.report))
	}
	stands(t, must[procedure.Run](t)(w.Procedures.Run(ctx, run.ID)), "running: handed_out pending")
	refuses(t, errs.Invalid, "status")(w.Procedures.Runs(ctx, procedure.RunFilter{Status: "odd"}))
	refuses(t, errs.NotFound, "")(w.Procedures.Start(ctx, procedure.RunDraft{Name: "nobody"}))
}

func runRaces(t *testing.T, ctx context.Context, w ProcedureWorld) {
	saved(t, ctx, w, "p", steps("a", "b")...)
	run := must[procedure.Run](t)(w.Procedures.Start(ctx, procedure.RunDraft{Name: "p"}))
	var all sync.WaitGroup
	failures := make([]error, 8)
	for i := range failures {
		all.Go(func() {
			_, failures[i] = w.Procedures.Report(ctx, procedure.StepReport{RunID: run.ID, Index: 0, Status: procedure.StepSucceeded, Result: json.RawMessage(fmt.Sprint(i))})
		})
	}
	all.Wait()
	took := 0
	for _, err := range failures {
		if err == nil {
			took++
		} else {
			refused(t, err, errs.Conflict, "")
		}
	}
	if took != 1 {
		t.Errorf("%d of 8 different reports were taken in", took)
	}
	stands(t, must[procedure.Run](t)(w.Procedures.Run(ctx, run.ID)), "running: succeeded handed_out")
}

func runFigures(t *testing.T, ctx context.Context, w ProcedureWorld) {
	saved(t, ctx, w, "p", steps("a")...)
	for _, status := range []procedure.StepStatus{procedure.StepSucceeded, procedure.StepSucceeded, procedure.StepSucceeded, procedure.StepFailed} {
		run := must[procedure.Run](t)(w.Procedures.Start(ctx, procedure.RunDraft{Name: "p"}))
		w.Advance(10 * time.Second)
		took := 4.0
		must[procedure.Run](t)(w.Procedures.Report(ctx, procedure.StepReport{RunID: run.ID, Status: status, Duration: &took}))
	}
	got := must[procedure.Procedure](t)(w.Procedures.Procedure(ctx, procedure.Ref{Name: "p"}))
	if got.Runs != 4 || got.Succeeded != 3 || got.SuccessRate != 0.75 || got.AvgTime != 10 {
		t.Errorf("figures = %+v", got)
	}
	if diff := cmp.Diff([]procedure.StepStats{{Name: "a", Succeeded: 3, Failed: 1, AvgTime: 4}}, got.StepStats); diff != "" {
		t.Error(diff)
	}
	if stats := must[procedure.Stats](t)(w.Procedures.Stats(ctx)); stats.Runs != 4 || stats.Running != 0 {
		t.Errorf("stats = %+v", stats)
	}
}

func procedureDeletes(t *testing.T, ctx context.Context, w ProcedureWorld) {
	saved(t, ctx, w, "p", steps("a", "b")...)
	run := must[procedure.Run](t)(w.Procedures.Start(ctx, procedure.RunDraft{Name: "p"}))
	need(t, w.Procedures.Delete(ctx, procedure.Ref{Name: "p"}))
	refused(t, w.Procedures.Delete(ctx, procedure.Ref{Name: "p"}), errs.NotFound, "")
	refuses(t, errs.NotFound, "")(w.Procedures.Start(ctx, procedure.RunDraft{Name: "p"}))
	if found := must[procedure.Results](t)(w.Procedures.Search(ctx, procedure.Query{Query: "do a"})); found.Count != 0 {
		t.Errorf("it is still found: %+v", found)
	}
	run = stepped(t, ctx, w, run, procedure.StepSucceeded, "")
	stands(t, stepped(t, ctx, w, run, procedure.StepSucceeded, ""), "succeeded: succeeded succeeded")
	again := must[procedure.Saved](t)(w.Procedures.Save(ctx, procedure.Draft{Name: "p", Steps: steps("a", "b")}))
	if !again.Changed || again.Version != 2 {
		t.Errorf("saved again: %+v", again)
	}
	if read := must[procedure.Procedure](t)(w.Procedures.Procedure(ctx, procedure.Ref{Name: "p"})); read.Runs != 0 {
		t.Errorf("it begins with the figures of what was deleted: %+v", read)
	}
}

func procedureRedacts(t *testing.T, ctx context.Context, w ProcedureWorld) {
	const secret = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
	got := must[procedure.Saved](t)(w.Procedures.Save(ctx, procedure.Draft{Name: "p", Steps: []procedure.Step{{Name: "a", Action: "use " + secret}}}))
	if len(got.Redacted) == 0 {
		t.Error("nothing was cut out")
	}
	refuses(t, errs.Invalid, "params.x")(w.Procedures.Start(ctx, procedure.RunDraft{Name: "p", Params: map[string]json.RawMessage{"x": json.RawMessage(`"` + secret + `"`)}}))
	run := must[procedure.Run](t)(w.Procedures.Start(ctx, procedure.RunDraft{Name: "p"}))
	run = must[procedure.Run](t)(w.Procedures.Report(ctx, procedure.StepReport{RunID: run.ID, Status: procedure.StepFailed, Error: secret, Result: json.RawMessage(`{"out":"` + secret + `"}`)}))
	text, err := json.Marshal(run)
	if err != nil || strings.Contains(string(text), secret) {
		t.Errorf("a secret is shown: %s, %v", text, err)
	}
}
