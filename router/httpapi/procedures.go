package httpapi

import (
	"context"
	"encoding/json"

	"skillrouter/learning/procedure"
)

// ProcedurePlace is a procedure's place in the path. Both names hold only what a path can.
type ProcedurePlace struct {
	Persona string `path:"persona" doc:"The persona's name; default is everybody's"`
	Name    string `path:"name"`
}

// ProcedureText is what PUT stores. A procedure's place is in the path.
type ProcedureText struct {
	Description string            `json:"description,omitempty"`
	Category    string            `json:"category,omitempty" doc:"Default: general"`
	Params      []procedure.Param `json:"params,omitempty"`
	Steps       []procedure.Step  `json:"steps"`
	LearnedFrom json.RawMessage   `json:"learned_from,omitempty" doc:"Any JSON, such as a list of {episode: …}"`
	AgentID     string            `json:"agent_id,omitempty"`
}

// RunBegin is what a run begins with.
type RunBegin struct {
	Params  map[string]json.RawMessage `json:"params,omitempty"`
	AgentID string                     `json:"agent_id,omitempty"`
	Project string                     `json:"project,omitempty"`
}

// ReportText says how a step went. Which step is in the path.
type ReportText struct {
	Attempt  int                  `json:"attempt,omitempty" doc:"Which handing out is reported; 0: the latest"`
	Status   procedure.StepStatus `json:"status" doc:"succeeded, failed, skipped or unknown"`
	Result   json.RawMessage      `json:"result,omitempty" doc:"Any JSON; later conditions see it as results.NAME"`
	Error    string               `json:"error,omitempty"`
	Duration *float64             `json:"duration,omitempty" doc:"Seconds; default: since it was handed out"`
}

// FileProblems is the answer of GET /api/procedures/problems.
type FileProblems struct {
	Problems []procedure.FileProblem `json:"problems"`
	Count    int                     `json:"count"`
}

// RunList is the answer of GET /api/runs.
type RunList struct {
	Runs  []procedure.Run `json:"runs"`
	Count int             `json:"count"`
}

// RunPlace is a run's place in the path.
type RunPlace struct {
	ID string `path:"id" doc:"The run's id"`
}

// Procedures are the routes of procedures.
func Procedures(procedures procedure.Service) Routes {
	return func(s *Server) { s.procedureRoutes(procedures) }
}

func (s *Server) procedureRoutes(procedures procedure.Service) {
	const one = "/{persona}/{name}"
	at := s.at("procedures", "/api/procedures")
	at.get("", "A persona's procedures, by name", asked(procedures.List))
	at.post("/search", "The procedures that fit a need in plain words, best first",
		explained(procedures.Search, func(q *procedure.Query) *bool { return &q.Explain }))
	at.get("/problems", "The files that hold no procedure, and why, with the line",
		bare(of(procedures.Problems, func(list []procedure.FileProblem) FileProblems { return FileProblems{list, len(list)} })))
	at.get("/stats", "How many procedures each persona has, and how many runs there are", bare(procedures.Stats))
	at.get(one, "A procedure with the figures of its steps", asked(procedures.Procedure))
	at.put(one, "Store a procedure, as a further version of what is under its name; 200 if the latest says the same",
		createdIf(typed(func(ctx context.Context, in *struct {
			ProcedurePlace
			Body ProcedureText
		},
		) (procedure.Saved, error) {
			return procedures.Save(ctx, procedure.Draft{
				Persona: in.Persona, Name: in.Name, Description: in.Body.Description, Category: in.Body.Category, Params: in.Body.Params,
				Steps: in.Body.Steps, LearnedFrom: in.Body.LearnedFrom, AgentID: in.Body.AgentID,
			})
		}), func(s procedure.Saved) bool { return s.Changed }))
	at.delete(one, "Delete a procedure, its file and its figures; runs under way go on",
		asked(silent(func(ctx context.Context, in ProcedurePlace) error {
			return procedures.Delete(ctx, procedure.Ref{Persona: in.Persona, Name: in.Name})
		})))
	at.post(one+"/runs", "Begin a run and hand out its first step", created(typed(func(ctx context.Context, in *struct {
		ProcedurePlace
		Body *RunBegin
	},
	) (procedure.Run, error) {
		begin := given(in.Body)
		return procedures.Start(ctx, procedure.RunDraft{Persona: in.Persona, Name: in.Name, Params: begin.Params, AgentID: begin.AgentID, Project: begin.Project})
	})))
	s.runRoutes(procedures)
}

func (s *Server) runRoutes(procedures procedure.Service) {
	at := s.at("procedures", "/api/runs")
	at.get("", "Runs of procedures without the results of their steps, the latest first",
		asked(as(procedures.Runs, func(list []procedure.Run) RunList { return RunList{list, len(list)} })))
	at.get("/{id}", "A run with the results of its steps", named(procedures.Run).saying("The run's id"))
	at.post("/{id}/next", "Hand out the step that is due; one that nobody reported only with again", typed(func(ctx context.Context, in *struct {
		RunPlace
		Body *struct {
			Again bool `json:"again,omitempty" doc:"Hand out once more what was handed out and not reported: how it went then is unknown"`
		}
	},
	) (procedure.Run, error) {
		return procedures.Next(ctx, procedure.StepRequest{RunID: in.ID, Again: given(in.Body).Again})
	}))
	at.post("/{id}/steps/{index}", "Say how a step went, and be handed the one that is due then", typed(func(ctx context.Context, in *struct {
		RunPlace
		Index int `path:"index" doc:"From 0"`
		Body  ReportText
	},
	) (procedure.Run, error) {
		return procedures.Report(ctx, procedure.StepReport{
			RunID: in.ID, Index: in.Index, Attempt: in.Body.Attempt, Status: in.Body.Status, Result: in.Body.Result, Error: in.Body.Error, Duration: in.Body.Duration,
		})
	}))
	at.post("/{id}/abandon", "End a run before its end", typed(func(ctx context.Context, in *struct {
		RunPlace
		Body *struct {
			Reason string `json:"reason,omitempty"`
		}
	},
	) (procedure.Run, error) {
		return procedures.Abandon(ctx, in.ID, given(in.Body).Reason)
	}))
}
