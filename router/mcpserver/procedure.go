package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"skillrouter"
	"skillrouter/learning"
)

type rememberProcedure struct {
	Name        string           `json:"name"`
	Steps       []learning.Step  `json:"steps"`
	Category    string           `json:"category"`
	Description string           `json:"description"`
	Params      []learning.Param `json:"params"`
	Persona     string           `json:"persona"`
}

type recallProcedure struct {
	Name    string `json:"name"`
	Persona string `json:"persona"`
}

type listProcedures struct {
	Category string `json:"category"`
	Persona  string `json:"persona"`
	After    string `json:"after"`
}

type executeProcedure struct {
	Name    string                     `json:"name"`
	Params  map[string]json.RawMessage `json:"params"`
	Persona string                     `json:"persona"`
}

type reportStep struct {
	RunID   string              `json:"run_id"`
	Index   int                 `json:"index"`
	Attempt int                 `json:"attempt"`
	Status  learning.StepStatus `json:"status"`
	Result  json.RawMessage     `json:"result"`
	Error   string              `json:"error"`
}

type getRun struct {
	RunID string `json:"run_id"`
	Again bool   `json:"again"`
}

type recalledProcedure struct {
	Found     bool                `json:"found"`
	Procedure *learning.Procedure `json:"procedure,omitempty"`
	Others    []procedureSummary  `json:"others,omitempty"` // that fit the query too
	Notice    string              `json:"notice,omitempty"`
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
	RunID     string             `json:"run_id"`
	Procedure string             `json:"procedure"`
	Version   int64              `json:"version"`
	Status    learning.RunStatus `json:"status"`
	Reason    string             `json:"reason,omitempty"`
	Steps     []stepView         `json:"steps"`
	Next      *learning.RunStep  `json:"next,omitempty"`
	Notice    string             `json:"notice,omitempty"`
}

type stepView struct {
	Index  int                 `json:"index"`
	Name   string              `json:"name"`
	Status learning.StepStatus `json:"status"`
	Reason string              `json:"reason,omitempty"`
	Error  string              `json:"error,omitempty"`
}

// objects is a list of objects.
func objects(name, description string) field {
	f := value("array", name, description)
	f.schema.Items = &jsonschema.Schema{Type: "object"}
	return f
}

// addProcedureTools offers seed 002's procedural memory, in a toolset of its own.
func (s *Server) addProcedureTools() {
	persona := text("persona", "Whose memory; default \"default\"")
	add(s, tool{
		name: "remember_procedure", title: "Remember a procedure", set: ToolsetProcedures, effect: ensure,
		description: "Keep steps that worked under a name, to be gone through again. What is there becomes an older version.",
		input: arguments(
			required(text("name", "Letters, digits, . _ -")),
			required(objects("steps", "Each with name, action and, if need be, description, condition (such as exit_code != 0), run (a command line), on_failure: continue")),
			text("category", "Default general"),
			text("description", "What it is for; it is found by this"),
			objects("params", "Each with name and maybe default; ${name} in an action is its value"),
			persona,
		),
		output: holds("persona", "name", "version", "changed"),
	}, s.rememberProcedure)
	add(s, tool{
		name: "recall_procedure", title: "Recall a procedure", set: ToolsetProcedures, effect: reads,
		description: "The steps under a name, or those that fit a need in plain words; found: false if there are none.",
		input:       arguments(required(text("name", "Or, in several words, what you need it for")), persona),
		output:      holds("found"),
	}, s.recallProcedure)
	add(s, tool{
		name: "list_procedures", title: "List procedures", set: ToolsetProcedures, effect: reads,
		description: "What procedures there are.",
		input:       arguments(text("category", ""), persona, text("after", "The next of the page before")),
		output:      holds("procedures"),
	}, s.listProcedures)
	add(s, tool{
		name: "execute_procedure", title: "Begin a run of a procedure", set: ToolsetProcedures, effect: adds,
		description: "Begins a run and hands you its first step. Do it, then call report_step, which hands you the next.",
		input:       arguments(required(text("name", "")), anObject("params", "Their values by name"), persona),
		output:      holds("run_id", "status", "steps"),
	}, s.executeProcedure)
	add(s, tool{
		name: "report_step", title: "Report a step", set: ToolsetProcedures, effect: ensure,
		description: "Say how the step went that you were handed, and be handed the next.",
		input: arguments(
			required(text("run_id", "")), required(whole("index", "The step's")),
			required(oneOf("status", "", learning.StepSucceeded, learning.StepFailed, learning.StepSkipped, learning.StepUnknown)),
			anything("result", "What it gave, an object best: later conditions see its members"),
			whole("attempt", "Which handing out it is of; default the latest"),
			text("error", "What went wrong"),
		),
		output: holds("run_id", "status", "steps"),
	}, s.reportStep)
	add(s, tool{
		name: "get_run", title: "How a run stands", set: ToolsetProcedures, effect: adds,
		description: "How a run stands and what is due. Go on here after a break: with again, a step that was handed out and not reported is handed out once more.",
		input:       arguments(required(text("run_id", "")), boolean("again", "")),
		output:      holds("run_id", "status", "steps"),
	}, s.getRun)
}

func (s *Server) rememberProcedure(ctx context.Context, in rememberProcedure) (reply[learning.ProcedureSaved], error) {
	saved, err := s.services.Procedures.Save(ctx, learning.ProcedureDraft{
		Persona: in.Persona, Name: in.Name, Description: in.Description, Category: in.Category, Params: in.Params, Steps: in.Steps, AgentID: s.actor(ctx, ""),
	})
	if err != nil {
		return reply[learning.ProcedureSaved]{}, err
	}
	said := fmt.Sprintf("Saved %s as version %d.", visible(saved.Name), saved.Version)
	if !saved.Changed {
		said = fmt.Sprintf("Version %d of %s says the same already.", saved.Version, visible(saved.Name))
	}
	if len(saved.Redacted) > 0 {
		said += " Secrets were cut out of it before it was stored: " + strings.Join(saved.Redacted, ", ") + "."
	}
	return reply[learning.ProcedureSaved]{saved, said}, nil
}

func (s *Server) recallProcedure(ctx context.Context, in recallProcedure) (reply[recalledProcedure], error) {
	var out recalledProcedure
	need := strings.ContainsAny(strings.TrimSpace(in.Name), " \t\n") // no name has white space
	if !need {
		found, err := s.services.Procedures.Procedure(ctx, learning.ProcedureRef{Persona: in.Persona, Name: in.Name})
		if err != nil && skillrouter.CodeOf(err) != skillrouter.NotFound {
			return reply[recalledProcedure]{}, err
		}
		if err == nil {
			out.Procedure = &found
		}
	}
	if out.Procedure == nil {
		found, err := s.services.Procedures.Search(ctx, learning.ProcedureQuery{Query: in.Name, Persona: in.Persona})
		if err != nil {
			return reply[recalledProcedure]{}, err
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
			f.explain()
			f.addSummaries(out.Others)
		}
		return reply[recalledProcedure]{out, f.String()}, nil
	}
	out.Found, out.Notice = true, notice
	procedure := *out.Procedure
	procedure.Steps = append([]learning.Step{}, procedure.Steps...)
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
	if len(out.Others) > 0 {
		f.addSummaries(out.Others)
	}
	f.say("To go through it, call execute_procedure: it hands you one step at a time.")
	return reply[recalledProcedure]{out, f.String()}, nil
}

func succeeded(runs int64, rate float64) string {
	if runs == 0 {
		return "no runs yet"
	}
	return fmt.Sprintf("%.0f%% of %s succeeded", 100*rate, count(int(runs), "run", "runs"))
}

// addStep appends a step.
func (f *fence) addStep(index int, step learning.Step, left int) {
	f.add(fmt.Sprintf("Step %d", index), attributes("name", step.Name, "condition", step.Condition, "on_failure", step.OnFailure),
		step.Description, part("Action", step.Action), part("Run", step.Run), cutNote(left))
}

func (f *fence) addSummaries(list []procedureSummary) {
	for i, one := range list {
		f.add(fmt.Sprintf("%d. version %d, %s, %s", i+1, one.Version, count(one.Steps, "step", "steps"), succeeded(one.Runs, one.SuccessRate)),
			attributes("name", one.Name, "category", one.Category, "persona", one.Persona), one.Description)
	}
}

func summaryOf(p learning.Procedure) procedureSummary {
	return procedureSummary{
		Persona: p.Persona, Name: p.Name, Description: skillrouter.Head(p.Description, 300), Category: p.Category, Steps: len(p.Steps),
		Version: p.Version, SuccessRate: p.SuccessRate, AvgTime: p.AvgTime, Runs: p.Runs,
	}
}

func (s *Server) listProcedures(ctx context.Context, in listProcedures) (reply[listedProcedures], error) {
	page, err := s.services.Procedures.List(ctx, learning.ProcedureFilter{Persona: in.Persona, Category: in.Category, After: in.After})
	if err != nil {
		return reply[listedProcedures]{}, err
	}
	out := listedProcedures{Procedures: []procedureSummary{}, Next: page.Next}
	for _, p := range page.Procedures {
		out.Procedures = append(out.Procedures, summaryOf(p))
	}
	if len(out.Procedures) == 0 {
		return reply[listedProcedures]{out, "There are none."}, nil
	}
	out.Notice = notice
	f := newFence("There are these, by name.")
	f.explain()
	f.addSummaries(out.Procedures)
	if out.Next != "" {
		f.say("There are more: ask again with after.")
	}
	return reply[listedProcedures]{out, f.String()}, nil
}

func (s *Server) executeProcedure(ctx context.Context, in executeProcedure) (reply[runView], error) {
	run, err := s.services.Procedures.Start(ctx, learning.RunDraft{Persona: in.Persona, Name: in.Name, Params: in.Params, AgentID: s.actor(ctx, "")})
	return shownRun(run), err
}

func (s *Server) reportStep(ctx context.Context, in reportStep) (reply[runView], error) {
	run, err := s.services.Procedures.Report(ctx, learning.StepReport{
		RunID: in.RunID, Index: in.Index, Attempt: in.Attempt, Status: in.Status, Result: in.Result, Error: in.Error,
	})
	return shownRun(run), err
}

func (s *Server) getRun(ctx context.Context, in getRun) (reply[runView], error) {
	if in.Again {
		run, err := s.services.Procedures.Next(ctx, learning.StepRequest{RunID: in.RunID, Again: true})
		return shownRun(run), err
	}
	run, err := s.services.Procedures.Run(ctx, in.RunID)
	return shownRun(run), err
}

// shownRun is a run as a model sees it.
func shownRun(run learning.Run) reply[runView] {
	out := runView{RunID: run.ID, Procedure: run.Procedure, Version: run.Version, Status: run.Status, Reason: run.Reason, Next: run.Next, Notice: notice, Steps: []stepView{}}
	f := newFence("Run %s is %s.", run.ID, run.Status)
	f.explain()
	var stand []string
	for _, step := range run.Steps {
		out.Steps = append(out.Steps, stepView{step.Index, step.Name, step.Status, step.Reason, skillrouter.Head(step.Error, 500)})
		line := fmt.Sprintf("%d %s: %s", step.Index, step.Name, step.Status)
		for _, more := range []string{step.Reason, skillrouter.Head(step.Error, 500)} {
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
		case next.Status != learning.StepHandedOut:
			f.say("Step %d is due; ask for it with get_run and again.", next.Index)
		case next.Attempt > 1:
			f.say("Step %d was handed out before, and how it went is unknown: look whether it was done, then do it, and report it with report_step.", next.Index)
		default:
			f.say("Step %d is handed out. If it is you who was to do it, do it and report it with report_step; if you cannot know whether it was done, ask with again.", next.Index)
		}
	}
	return reply[runView]{out, f.String()}
}
