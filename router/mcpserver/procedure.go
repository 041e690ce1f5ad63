package mcpserver

import (
	"context"
	"fmt"
	"strings"

	"skillrouter/internal/check"
	"skillrouter/internal/errs"
	"skillrouter/learning/procedure"
)

// Procedures are the tools of procedures.
func Procedures(service procedure.Service) Tools {
	return func(s *Server) { procedureTools(s, service) }
}

type recalledProcedure struct {
	Found     bool                 `json:"found"`
	Procedure *procedure.Procedure `json:"procedure,omitempty"`
	Others    []procedureSummary   `json:"others,omitempty"` // that fit the query too
	Notice    string               `json:"notice,omitempty"`
}

// procedureSummary is what a listing says of a procedure.
type procedureSummary struct {
	Persona     string  `json:"persona"`
	Name        string  `json:"name"`
	Description string  `json:"description,omitempty"`
	Category    string  `json:"category"`
	Steps       int     `json:"steps"`
	Version     int64   `json:"version"`
	SuccessRate float64 `json:"success_rate"`
	AvgTime     float64 `json:"avg_execution_time"`
	Runs        int64   `json:"runs"`
}

type listedProcedures struct {
	Procedures []procedureSummary `json:"procedures"`
	Next       string             `json:"next,omitempty"`
	Notice     string             `json:"notice,omitempty"`
}

// runView is what a model needs of a run: how its steps stand, and the one to do.
type runView struct {
	RunID     string              `json:"run_id"`
	Procedure string              `json:"procedure"`
	Version   int64               `json:"version"`
	Status    procedure.RunStatus `json:"status"`
	Reason    string              `json:"reason,omitempty"`
	Steps     []stepView          `json:"steps"`
	Next      *procedure.RunStep  `json:"next,omitempty"`
	Notice    string              `json:"notice,omitempty"`
}

type stepView struct {
	Index  int                  `json:"index"`
	Name   string               `json:"name"`
	Status procedure.StepStatus `json:"status"`
	Reason string               `json:"reason,omitempty"`
	Error  string               `json:"error,omitempty"`
}

// procedureTools offers the persona's procedural memory, in a toolset of its own.
func procedureTools(s *Server, procedures procedure.Service) {
	add(s, tool{
		name: "remember_procedure", title: "Remember a procedure", set: ToolsetProcedures, effect: ensure, holds: "persona name version changed",
		description: "Keep steps that worked under a name, to be gone through again. What is there becomes an older version.",
	}, described[procedure.Draft]("name!", "steps!", "category", "description", "params", "persona"), then(procedures.Save, func(saved procedure.Saved) (procedure.Saved, string) {
		said := fmt.Sprintf("Saved %s as version %d.", visible(saved.Name), saved.Version)
		if !saved.Changed {
			said = fmt.Sprintf("Version %d of %s says the same already.", saved.Version, visible(saved.Name))
		}
		return saved, said + redacted(saved.Redacted)
	}))
	add(s, tool{
		name: "recall_procedure", title: "Recall a procedure", set: ToolsetProcedures, effect: reads, holds: "found",
		description: "The steps under a name, or those that fit a need in plain words; found: false if there are none.",
		resource: &resource{
			template: "memory://procedures/{persona}/{name}", name: "procedure", description: "The steps under a name", arguments: []string{"persona", "name"}, found: "procedure",
			latest: func(ctx context.Context, offer func(name string, values ...string)) error {
				page, err := procedures.List(ctx, procedure.Filter{Limit: listedPerKind})
				for _, p := range page.Procedures {
					offer(": "+p.Name, p.Persona, p.Name)
				}
				return err
			},
		},
	}, func(p *params, ref *procedure.Ref) {
		p.must("name", &ref.Name, "Or, in several words, what you need it for")
		p.may("persona", &ref.Persona, whoseMemory)
	}, func(ctx context.Context, ref procedure.Ref) (recalledProcedure, string, error) {
		return recallProcedure(ctx, procedures, ref)
	})
	add(s, tool{
		name: "list_procedures", title: "List procedures", set: ToolsetProcedures, effect: reads, holds: "procedures",
		description: "What procedures there are.",
	}, described[procedure.Filter]("category", "persona", "after"), then(procedures.List, func(page procedure.Page) (listedProcedures, string) {
		out := listedProcedures{Procedures: views(page.Procedures, summaryOf), Next: page.Next}
		f := listing(out.Procedures, &out.Notice, summaryEntry, "There are none.", "There are these, by name.")
		if out.Next != "" && len(out.Procedures) > 0 {
			f.say("There are more: ask again with after.")
		}
		return out, f.String()
	}))
	add(s, tool{
		name: "execute_procedure", title: "Begin a run of a procedure", set: ToolsetProcedures, effect: adds, holds: "run_id status steps",
		description: "Begins a run and hands you its first step. Do it, then call report_step, which hands you the next.",
	}, described[procedure.RunDraft]("name!", "params", "persona"), then(procedures.Start, shownRun))
	add(s, tool{
		name: "report_step", title: "Report a step", set: ToolsetProcedures, effect: ensure, holds: "run_id status steps",
		description: "Say how the step went that you were handed, and be handed the next.",
	}, func(p *params, r *procedure.StepReport) {
		p.must("run_id", &r.RunID, "")
		p.must("index", &r.Index, "The step's", notNegative)
		p.must("status", &r.Status, "", among(procedure.StepSucceeded, procedure.StepFailed, procedure.StepSkipped, procedure.StepUnknown))
		p.may("result", &r.Result, "What it gave, an object best: later conditions see its members")
		p.may("attempt", &r.Attempt, "Which handing out it is of; default the latest", notNegative)
		p.may("error", &r.Error, "What went wrong")
	}, then(procedures.Report, shownRun))
	add(s, tool{
		name: "get_run", title: "How a run stands", set: ToolsetProcedures, effect: adds, readable: true, holds: "run_id status steps",
		description: "How a run stands and what is due. Go on here after a break: with again, a step that was handed out and not reported is handed out once more.",
	}, described[procedure.StepRequest]("run_id!", "again"), then(func(ctx context.Context, r procedure.StepRequest) (procedure.Run, error) {
		if r.Again {
			return procedures.Next(ctx, r)
		}
		return procedures.Run(ctx, r.RunID)
	}, shownRun))
}

func recallProcedure(ctx context.Context, procedures procedure.Service, ref procedure.Ref) (out recalledProcedure, text string, err error) {
	need := strings.ContainsAny(strings.TrimSpace(ref.Name), " \t\n") // no name has white space
	if !need {
		found, err := procedures.Procedure(ctx, ref)
		if err != nil && errs.CodeOf(err) != errs.NotFound {
			return out, "", err
		}
		if err == nil {
			out.Procedure = &found
		}
	}
	if out.Procedure == nil {
		found, err := procedures.Search(ctx, procedure.Query{Query: ref.Name, Persona: ref.Persona})
		if err != nil {
			return out, "", err
		}
		for i, hit := range found.Results {
			if i == 0 && need {
				out.Procedure = &found.Results[0].Procedure
			} else {
				out.Others = append(out.Others, summaryOf(hit.Procedure))
			}
		}
	}
	if out.Procedure == nil {
		f := newFence("There is no such procedure. Once you know steps that work, keep them with remember_procedure.")
		if len(out.Others) > 0 {
			out.Notice = notice
			f.say("Of these, one may be what you need.")
			addEntries(f, out.Others, summaryEntry)
		}
		return out, f.String(), nil
	}
	out.Found, out.Notice = true, notice
	procedure := *out.Procedure
	procedure.Steps = owned(procedure.Steps)
	out.Procedure = &procedure
	var texts [][]*string
	for i := range procedure.Steps {
		step := &procedure.Steps[i]
		texts = append(texts, []*string{&step.Description, &step.Run, &step.Action})
	}
	left := fitTexts(texts)
	f := newFence("Found, version %d, %s.", procedure.Version, succeeded(procedure.Runs, procedure.SuccessRate))
	f.explain()
	f.add("The procedure", attributes("name", procedure.Name, "category", procedure.Category, "persona", procedure.Persona, "by", procedure.Author), procedure.Description)
	for i, step := range procedure.Steps {
		f.addStep(i, step, left[i])
	}
	addEntries(f, out.Others, summaryEntry)
	f.say("To go through it, call execute_procedure: it hands you one step at a time.")
	return out, f.String(), nil
}

func succeeded(runs int64, rate float64) string {
	if runs == 0 {
		return "no runs yet"
	}
	return fmt.Sprintf("%.0f%% of %s succeeded", 100*rate, count(int(runs), "run", "runs"))
}

// addStep appends a step.
func (f *fence) addStep(index int, step procedure.Step, left int) {
	f.add(fmt.Sprintf("Step %d", index), attributes("name", step.Name, "condition", step.Condition, "on_failure", step.OnFailure),
		step.Description, part("Action", step.Action), part("Run", step.Run), cutNote(left))
}

func summaryOf(p procedure.Procedure) procedureSummary {
	return procedureSummary{
		Persona: p.Persona, Name: p.Name, Description: check.Head(p.Description, 300), Category: p.Category, Steps: len(p.Steps),
		Version: p.Version, SuccessRate: p.SuccessRate, AvgTime: p.AvgTime, Runs: p.Runs,
	}
}

func summaryEntry(one *procedureSummary) entry {
	return entry{nil, func(int) (string, []string) {
		return fmt.Sprintf("version %d, %s, %s", one.Version, count(one.Steps, "step", "steps"), succeeded(one.Runs, one.SuccessRate)),
			[]string{attributes("name", one.Name, "category", one.Category, "persona", one.Persona), one.Description}
	}}
}

// shownRun is a run as a model sees it.
func shownRun(run procedure.Run) (runView, string) {
	out := runView{RunID: run.ID, Procedure: run.Procedure, Version: run.Version, Status: run.Status, Reason: run.Reason, Next: run.Next, Notice: notice, Steps: []stepView{}}
	f := newFence("Run %s is %s.", run.ID, run.Status)
	f.explain()
	var stand []string
	for _, step := range run.Steps {
		out.Steps = append(out.Steps, stepView{step.Index, step.Name, step.Status, step.Reason, check.Head(step.Error, 500)})
		line := fmt.Sprintf("%d %s: %s", step.Index, step.Name, step.Status)
		for _, more := range []string{step.Reason, check.Head(step.Error, 500)} {
			if more != "" {
				line += ", " + more
			}
		}
		stand = append(stand, line)
	}
	f.add("Its steps", append([]string{attributes("procedure", run.Procedure, "persona", run.Persona), run.Reason}, stand...)...)
	if next := run.Next; next != nil {
		f.addStep(next.Index, next.Step, 0)
		switch {
		case next.Status != procedure.StepHandedOut:
			f.say("Step %d is due; ask for it with get_run and again.", next.Index)
		case next.Attempt > 1:
			f.say("Step %d was handed out before, and how it went is unknown: look whether it was done, then do it, and report it with report_step.", next.Index)
		default:
			f.say("Step %d is handed out. If it is you who was to do it, do it and report it with report_step; if you cannot know whether it was done, ask with again.", next.Index)
		}
	}
	return out, f.String()
}
