package httpapi

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"skillrouter/learning"
)

const (
	proceduresPath = "/api/procedures"
	runsPath       = "/api/runs"
)

// ProcedurePlace is a procedure's place in the path. Both names hold only what a path can.
type ProcedurePlace struct {
	Persona string `path:"persona" doc:"The persona's name; default is everybody's"`
	Name    string `path:"name"`
}

// ProcedureText is what PUT stores. A procedure's place is in the path.
type ProcedureText struct {
	Description string           `json:"description,omitempty"`
	Category    string           `json:"category,omitempty" doc:"Default: general"`
	Params      []learning.Param `json:"params,omitempty"`
	Steps       []learning.Step  `json:"steps"`
	LearnedFrom json.RawMessage  `json:"learned_from,omitempty" doc:"Any JSON, such as a list of {episode: …}"`
	AgentID     string           `json:"agent_id,omitempty"`
}

// RunBegin is what a run begins with.
type RunBegin struct {
	Params  map[string]json.RawMessage `json:"params,omitempty"`
	AgentID string                     `json:"agent_id,omitempty"`
	Project string                     `json:"project,omitempty"`
}

// ReportText says how a step went. Which step is in the path.
type ReportText struct {
	Attempt  int                 `json:"attempt,omitempty" doc:"Which handing out is reported; 0: the latest"`
	Status   learning.StepStatus `json:"status" doc:"succeeded, failed, skipped or unknown"`
	Result   json.RawMessage     `json:"result,omitempty" doc:"Any JSON; later conditions see it as results.NAME"`
	Error    string              `json:"error,omitempty"`
	Duration *float64            `json:"duration,omitempty" doc:"Seconds; default: since it was handed out"`
}

// FileProblems is the answer of GET /api/procedures/problems.
type FileProblems struct {
	Problems []learning.FileProblem `json:"problems"`
	Count    int                    `json:"count"`
}

// RunList is the answer of GET /api/runs.
type RunList struct {
	Runs  []learning.Run `json:"runs"`
	Count int            `json:"count"`
}

// RunPlace is a run's place in the path.
type RunPlace struct {
	ID string `path:"id" doc:"The run's id"`
}

func (s *Server) procedureRoutes() {
	procedures := s.services.Procedures
	if procedures == nil {
		return
	}
	op := func(method, path, summary string) huma.Operation {
		return operation(method, proceduresPath+path, "procedures", summary)
	}
	const one = "/{persona}/{name}"

	register(s, op(http.MethodGet, "", "A persona's procedures, by name"), func(ctx context.Context, in *struct {
		Persona  string `query:"persona" doc:"Default: default; *: everybody's"`
		Category string `query:"category"`
		After    string `query:"after" doc:"The answer's next of the page before"`
		Limit    int    `query:"limit" doc:"1 to 200; 0: 50"`
	},
	) (*answer[learning.ProcedurePage], error) {
		page, err := procedures.List(ctx, learning.ProcedureFilter{Persona: in.Persona, Category: in.Category, After: in.After, Limit: in.Limit})
		page.Procedures = emptied(page.Procedures)
		return reply(page), err
	})
	register(s, op(http.MethodPost, "/search", "The procedures that fit a need in plain words, best first"),
		func(ctx context.Context, in *explainInput[learning.ProcedureQuery]) (*answer[learning.ProcedureResults], error) {
			in.Body.Explain = in.Body.Explain || in.Explain
			found, err := procedures.Search(ctx, in.Body)
			found.Results = emptied(found.Results)
			return reply(found), err
		})
	register(s, op(http.MethodGet, "/problems", "The files that hold no procedure, and why, with the line"),
		func(ctx context.Context, _ *struct{}) (*answer[FileProblems], error) {
			list, err := procedures.Problems(ctx)
			return reply(FileProblems{Problems: emptied(list), Count: len(list)}), err
		})
	register(s, op(http.MethodGet, "/stats", "How many procedures each persona has, and how many runs there are"),
		func(ctx context.Context, _ *struct{}) (*answer[learning.ProcedureStats], error) {
			stats, err := procedures.Stats(ctx)
			return reply(stats), err
		})
	register(s, op(http.MethodGet, one, "A procedure with the figures of its steps"), func(ctx context.Context, in *struct {
		ProcedurePlace
		Version int64 `query:"version" doc:"0: the latest"`
	},
	) (*answer[learning.Procedure], error) {
		procedure, err := procedures.Procedure(ctx, learning.ProcedureRef{Persona: in.Persona, Name: in.Name, Version: in.Version})
		return reply(procedure), err
	})
	put := op(http.MethodPut, one, "Store a procedure, as a further version of what is under its name; 200 if the latest says the same")
	put.DefaultStatus = http.StatusCreated
	register(s, put, func(ctx context.Context, in *struct {
		ProcedurePlace
		Body ProcedureText
	},
	) (*answer[learning.ProcedureSaved], error) {
		saved, err := procedures.Save(ctx, learning.ProcedureDraft{
			Persona: in.Persona, Name: in.Name, Description: in.Body.Description, Category: in.Body.Category, Params: in.Body.Params,
			Steps: in.Body.Steps, LearnedFrom: in.Body.LearnedFrom, AgentID: in.Body.AgentID,
		})
		a := &answer[learning.ProcedureSaved]{Status: http.StatusOK, Body: saved}
		if saved.Changed {
			a.Status = http.StatusCreated
		}
		return a, err
	})
	remove := op(http.MethodDelete, one, "Delete a procedure, its file and its figures; runs under way go on")
	remove.DefaultStatus = http.StatusNoContent
	s.mount(remove, silent(func(ctx context.Context, in *ProcedurePlace) error {
		return procedures.Delete(ctx, learning.ProcedureRef{Persona: in.Persona, Name: in.Name})
	}))
	start := op(http.MethodPost, one+"/runs", "Begin a run and hand out its first step")
	start.DefaultStatus = http.StatusCreated
	register(s, start, func(ctx context.Context, in *struct {
		ProcedurePlace
		Body *RunBegin
	},
	) (*answer[learning.Run], error) {
		draft := learning.RunDraft{Persona: in.Persona, Name: in.Name}
		if in.Body != nil {
			draft.Params, draft.AgentID, draft.Project = in.Body.Params, in.Body.AgentID, in.Body.Project
		}
		run, err := procedures.Start(ctx, draft)
		return &answer[learning.Run]{Status: http.StatusCreated, Body: run}, err
	})
	s.runRoutes(procedures)
}

func (s *Server) runRoutes(procedures learning.ProcedureService) {
	op := func(method, path, summary string) huma.Operation {
		return operation(method, runsPath+path, "procedures", summary)
	}
	register(s, op(http.MethodGet, "", "Runs of procedures without the results of their steps, the latest first"), func(ctx context.Context, in *struct {
		Persona   string             `query:"persona"`
		Procedure string             `query:"procedure"`
		AgentID   string             `query:"agent_id"`
		Status    learning.RunStatus `query:"status" doc:"running, succeeded, failed or abandoned"`
		Limit     int                `query:"limit" doc:"1 to 200; 0: 10"`
	},
	) (*answer[RunList], error) {
		list, err := procedures.Runs(ctx, learning.RunFilter{Persona: in.Persona, Procedure: in.Procedure, AgentID: in.AgentID, Status: in.Status, Limit: in.Limit})
		return reply(RunList{Runs: emptied(list), Count: len(list)}), err
	})
	register(s, op(http.MethodGet, "/{id}", "A run with the results of its steps"), func(ctx context.Context, in *RunPlace) (*answer[learning.Run], error) {
		run, err := procedures.Run(ctx, in.ID)
		return reply(run), err
	})
	register(s, op(http.MethodPost, "/{id}/next", "Hand out the step that is due; one that nobody reported only with again"), func(ctx context.Context, in *struct {
		RunPlace
		Body *struct {
			Again bool `json:"again,omitempty" doc:"Hand out once more what was handed out and not reported: how it went then is unknown"`
		}
	},
	) (*answer[learning.Run], error) {
		run, err := procedures.Next(ctx, learning.StepRequest{RunID: in.ID, Again: in.Body != nil && in.Body.Again})
		return reply(run), err
	})
	register(s, op(http.MethodPost, "/{id}/steps/{index}", "Say how a step went, and be handed the one that is due then"), func(ctx context.Context, in *struct {
		RunPlace
		Index int `path:"index" doc:"From 0"`
		Body  ReportText
	},
	) (*answer[learning.Run], error) {
		run, err := procedures.Report(ctx, learning.StepReport{
			RunID: in.ID, Index: in.Index, Attempt: in.Body.Attempt, Status: in.Body.Status, Result: in.Body.Result, Error: in.Body.Error, Duration: in.Body.Duration,
		})
		return reply(run), err
	})
	register(s, op(http.MethodPost, "/{id}/abandon", "End a run before its end"), func(ctx context.Context, in *struct {
		RunPlace
		Body *struct {
			Reason string `json:"reason,omitempty"`
		}
	},
	) (*answer[learning.Run], error) {
		reason := ""
		if in.Body != nil {
			reason = in.Body.Reason
		}
		run, err := procedures.Abandon(ctx, in.ID, reason)
		return reply(run), err
	})
}
