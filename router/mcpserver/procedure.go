package mcpserver

import (
	"context"
	"fmt"
	"strings"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/learning/procedure"
)

type recalledProcedure struct {
	Found     bool                 `json:"found"`
	Procedure *procedure.Procedure `json:"procedure,omitempty"`
	Others    []procedureSummary   `json:"others,omitempty"` // that fit the query too
}

// procedureSummary is what a listing says of a procedure.
type procedureSummary struct {
	procedure.Procedure
	Description string `json:"description,omitempty"`
	Steps       int    `json:"steps"`
}

func summaryOf(p procedure.Procedure) procedureSummary {
	return procedureSummary{p, check.Head(p.Description, 300), len(p.Steps)}
}

type listedProcedures struct {
	Procedures []procedureSummary `json:"procedures"`
	Next       string             `json:"next,omitempty"`
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

// procedureTools are the persona's procedural memory, in a toolset of its own.
func procedureTools() []tool {
	return []tool{
		{name: "remember_procedure", title: "Remember a procedure", effect: ensure, holds: "persona name version changed", does: procedure.Service.Save, takes: "name! steps! category description params persona"},
		{
			name: "recall_procedure", title: "Recall a procedure", effect: reads, holds: "found",
			description: "The steps under a name, or those that fit a need in plain words; found: false if there are none.",
			does:        (*Server).recallProcedure, takes: "name! persona", about: words{"name": "Or, in several words, what you need it for", "persona": whoseMemory},
			said: func(found recalledProcedure) string {
				switch {
				case found.Found:
					return "Found. To go through it, call execute_procedure: it hands you one step at a time."
				case len(found.Others) > 0:
					return "There is no such procedure. Of these, one may be what you need."
				}
				return "There is no such procedure. Once you know steps that work, keep them with remember_procedure."
			},
			resource: &resource{
				template: "memory://procedures/{persona}/{name}", name: "procedure", description: "The steps under a name", arguments: []string{"persona", "name"}, found: "procedure",
				lists: procedure.Service.List, asks: procedure.Filter{Limit: listedPerKind}, members: "persona name",
			},
		},
		{
			name: "list_procedures", title: "List procedures", effect: reads, holds: "procedures",
			description: "What procedures there are.",
			does:        (*Server).listProcedures, takes: "category persona after",
		},
		{
			name: "execute_procedure", title: "Begin a run of a procedure", effect: adds, holds: "run_id status steps",
			description: "Begins a run and hands you its first step. Do it, then call report_step, which hands you the next.",
			does:        (*Server).startRun, takes: "name! params persona",
		},
		{
			name: "report_step", title: "Report a step", effect: ensure, holds: "run_id status steps",
			description: "Say how the step went that you were handed, and be handed the next.",
			does:        (*Server).reportStep, takes: "run_id! index! status! result attempt error",
			about: words{
				"index": "The step's", "status": oneOf(procedure.StepSucceeded, procedure.StepFailed, procedure.StepSkipped, procedure.StepUnknown),
				"result":  "What it gave, an object best: later conditions see its members",
				"attempt": "Which handing out it is of; default the latest", "error": "What went wrong",
			},
		},
		{
			name: "get_run", title: "How a run stands", effect: adds, readable: true, holds: "run_id status steps",
			description: "How a run stands and what is due. Go on here after a break: with again, a step that was handed out and not reported is handed out once more.",
			does:        (*Server).run, takes: "run_id! again",
		},
	}
}

func (s *Server) recallProcedure(ctx context.Context, ref procedure.Ref) (out recalledProcedure, err error) {
	need := strings.ContainsAny(strings.TrimSpace(ref.Name), " \t\n") // no name has white space
	if !need {
		found, err := s.services.Procedures.Procedure(ctx, ref)
		if err == nil {
			return recalledProcedure{Found: true, Procedure: &found}, nil
		}
		if errs.CodeOf(err) != errs.NotFound {
			return out, err
		}
	}
	found, err := s.services.Procedures.Search(ctx, procedure.Query{Query: ref.Name, Persona: ref.Persona})
	for i := range found.Results {
		if i == 0 && need {
			out.Found, out.Procedure = true, &found.Results[0].Procedure
		} else {
			out.Others = append(out.Others, summaryOf(found.Results[i].Procedure))
		}
	}
	return out, err
}

func (s *Server) listProcedures(ctx context.Context, filter procedure.Filter) (out listedProcedures, err error) {
	page, err := s.services.Procedures.List(ctx, filter)
	for _, one := range page.Procedures {
		out.Procedures = append(out.Procedures, summaryOf(one))
	}
	out.Next = page.Next
	return out, err
}

func (s *Server) startRun(ctx context.Context, d procedure.RunDraft) (runView, string, error) {
	return shownRun(s.services.Procedures.Start(ctx, d))
}

func (s *Server) reportStep(ctx context.Context, r procedure.StepReport) (runView, string, error) {
	return shownRun(s.services.Procedures.Report(ctx, r))
}

func (s *Server) run(ctx context.Context, r procedure.StepRequest) (runView, string, error) {
	if r.Again {
		return shownRun(s.services.Procedures.Next(ctx, r))
	}
	return shownRun(s.services.Procedures.Run(ctx, r.RunID))
}

// shownRun is a run as a model sees it.
func shownRun(run procedure.Run, err error) (runView, string, error) {
	out := runView{RunID: run.ID, Procedure: run.Procedure, Version: run.Version, Status: run.Status, Reason: run.Reason, Next: run.Next, Notice: notice, Steps: []stepView{}}
	f := newFence("Run %s is %s.", run.ID, run.Status)
	f.explain()
	lines := []string{attributes("procedure", run.Procedure, "persona", run.Persona), run.Reason}
	for _, step := range run.Steps {
		step.Error = check.Head(step.Error, 500)
		out.Steps = append(out.Steps, stepView{step.Index, step.Name, step.Status, step.Reason, step.Error})
		lines = append(lines, fmt.Sprintf("%d %s: %s %s %s", step.Index, step.Name, step.Status, step.Reason, step.Error))
	}
	f.add("Its steps", lines...)
	if next := run.Next; next != nil {
		f.add(fmt.Sprintf("Step %d", next.Index), attributes("name", next.Name, "condition", next.Condition, "on_failure", next.OnFailure),
			next.Description, part("Action", next.Action), part("Run", next.Run))
		switch {
		case next.Status != procedure.StepHandedOut:
			f.say("Step %d is due; ask for it with get_run and again.", next.Index)
		case next.Attempt > 1:
			f.say("Step %d was handed out before, and how it went is unknown: look whether it was done, then do it, and report it with report_step.", next.Index)
		default:
			f.say("Step %d is handed out. If it is you who was to do it, do it and report it with report_step; if you cannot know whether it was done, ask with again.", next.Index)
		}
	}
	return out, f.String(), err
}
