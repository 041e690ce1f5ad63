package client

import (
	"context"
	"net/http"
	"strconv"

	"skillrouter/learning"
)

// Procedures is learning.ProcedureService over HTTP.
type Procedures struct{ c *Client }

var _ learning.ProcedureService = Procedures{}

// procedurePath is where a procedure is.
func procedurePath(persona, name string) (string, error) {
	if persona == "" {
		persona = learning.DefaultPersona
	}
	persona, err := segment("persona", persona)
	if err != nil {
		return "", err
	}
	name, err = segment("name", name)
	return "/api/procedures/" + persona + "/" + name, err
}

// runPath is where a run is.
func runPath(id string) (string, error) {
	id, err := segment("run_id", id)
	return "/api/runs/" + id, err
}

// Save implements learning.ProcedureService.
func (p Procedures) Save(ctx context.Context, draft learning.ProcedureDraft) (learning.ProcedureSaved, error) {
	path, err := procedurePath(draft.Persona, draft.Name)
	if err != nil {
		return learning.ProcedureSaved{}, err
	}
	if draft.Steps == nil {
		draft.Steps = []learning.Step{} // the router says what is wrong with it
	}
	// The place is in the path and not in the body.
	body := struct {
		learning.ProcedureDraft
		Persona *struct{} `json:"persona,omitempty"`
		Name    *struct{} `json:"name,omitempty"`
	}{ProcedureDraft: draft}
	return call[learning.ProcedureSaved](ctx, p.c, http.MethodPut, path, nil, body)
}

// Procedure implements learning.ProcedureService.
func (p Procedures) Procedure(ctx context.Context, ref learning.ProcedureRef) (learning.Procedure, error) {
	path, err := procedurePath(ref.Persona, ref.Name)
	if err != nil {
		return learning.Procedure{}, err
	}
	return call[learning.Procedure](ctx, p.c, http.MethodGet, path, values("version", ref.Version), nil)
}

// List implements learning.ProcedureService.
func (p Procedures) List(ctx context.Context, filter learning.ProcedureFilter) (learning.ProcedurePage, error) {
	return call[learning.ProcedurePage](ctx, p.c, http.MethodGet, "/api/procedures",
		values("persona", filter.Persona, "category", filter.Category, "after", filter.After, "limit", filter.Limit), nil)
}

// Search implements learning.ProcedureService.
func (p Procedures) Search(ctx context.Context, query learning.ProcedureQuery) (learning.ProcedureResults, error) {
	return call[learning.ProcedureResults](ctx, p.c, http.MethodPost, "/api/procedures/search", nil, query)
}

// Delete implements learning.ProcedureService.
func (p Procedures) Delete(ctx context.Context, ref learning.ProcedureRef) error {
	path, err := procedurePath(ref.Persona, ref.Name)
	if err != nil {
		return err
	}
	_, err = call[struct{}](ctx, p.c, http.MethodDelete, path, nil, nil)
	return err
}

// Problems implements learning.ProcedureService.
func (p Procedures) Problems(ctx context.Context) ([]learning.FileProblem, error) {
	type listing struct {
		Problems []learning.FileProblem `json:"problems"`
	}
	list, err := call[listing](ctx, p.c, http.MethodGet, "/api/procedures/problems", nil, nil)
	return list.Problems, err
}

// Stats implements learning.ProcedureService.
func (p Procedures) Stats(ctx context.Context) (learning.ProcedureStats, error) {
	return call[learning.ProcedureStats](ctx, p.c, http.MethodGet, "/api/procedures/stats", nil, nil)
}

// Start implements learning.ProcedureService.
func (p Procedures) Start(ctx context.Context, draft learning.RunDraft) (learning.Run, error) {
	path, err := procedurePath(draft.Persona, draft.Name)
	if err != nil {
		return learning.Run{}, err
	}
	body := struct {
		learning.RunDraft
		Persona *struct{} `json:"persona,omitempty"`
		Name    *struct{} `json:"name,omitempty"`
	}{RunDraft: draft}
	return call[learning.Run](ctx, p.c, http.MethodPost, path+"/runs", nil, body)
}

// Run implements learning.ProcedureService.
func (p Procedures) Run(ctx context.Context, id string) (learning.Run, error) {
	path, err := runPath(id)
	if err != nil {
		return learning.Run{}, err
	}
	return call[learning.Run](ctx, p.c, http.MethodGet, path, nil, nil)
}

// Runs implements learning.ProcedureService.
func (p Procedures) Runs(ctx context.Context, filter learning.RunFilter) ([]learning.Run, error) {
	type listing struct {
		Runs []learning.Run `json:"runs"`
	}
	list, err := call[listing](ctx, p.c, http.MethodGet, "/api/runs", values("persona", filter.Persona, "procedure", filter.Procedure,
		"agent_id", filter.AgentID, "status", filter.Status, "limit", filter.Limit), nil)
	return list.Runs, err
}

// Next implements learning.ProcedureService.
func (p Procedures) Next(ctx context.Context, request learning.StepRequest) (learning.Run, error) {
	path, err := runPath(request.RunID)
	if err != nil {
		return learning.Run{}, err
	}
	return call[learning.Run](ctx, p.c, http.MethodPost, path+"/next", nil, struct {
		Again bool `json:"again,omitempty"`
	}{request.Again})
}

// Report implements learning.ProcedureService.
func (p Procedures) Report(ctx context.Context, report learning.StepReport) (learning.Run, error) {
	path, err := runPath(report.RunID)
	if err != nil {
		return learning.Run{}, err
	}
	body := struct {
		learning.StepReport
		RunID *struct{} `json:"run_id,omitempty"`
		Index *struct{} `json:"index,omitempty"`
	}{StepReport: report}
	return call[learning.Run](ctx, p.c, http.MethodPost, path+"/steps/"+strconv.Itoa(report.Index), nil, body)
}

// Abandon implements learning.ProcedureService.
func (p Procedures) Abandon(ctx context.Context, id, reason string) (learning.Run, error) {
	path, err := runPath(id)
	if err != nil {
		return learning.Run{}, err
	}
	return call[learning.Run](ctx, p.c, http.MethodPost, path+"/abandon", nil, struct {
		Reason string `json:"reason,omitempty"`
	}{reason})
}
