package client

import (
	"cmp"
	"context"
	"net/http"

	"skillrouter/learning"
)

// Procedures is learning.ProcedureService over HTTP.
type Procedures struct{ c *Client }

var _ learning.ProcedureService = Procedures{}

// procedureAt is a path below a procedure.
func procedureAt(persona, name, below string) address {
	return at("/api/procedures/{persona}/{name}"+below, cmp.Or(persona, learning.DefaultPersona), name)
}

// Save implements learning.ProcedureService.
func (p Procedures) Save(ctx context.Context, draft learning.ProcedureDraft) (learning.ProcedureSaved, error) {
	if draft.Steps == nil {
		draft.Steps = []learning.Step{} // the router says what is wrong with it
	}
	// The place is in the path and not in the body.
	body := struct {
		learning.ProcedureDraft
		Persona *struct{} `json:"persona,omitempty"`
		Name    *struct{} `json:"name,omitempty"`
	}{ProcedureDraft: draft}
	return call[learning.ProcedureSaved](ctx, p.c, http.MethodPut, procedureAt(draft.Persona, draft.Name, ""), body)
}

// Procedure implements learning.ProcedureService.
func (p Procedures) Procedure(ctx context.Context, ref learning.ProcedureRef) (learning.Procedure, error) {
	return call[learning.Procedure](ctx, p.c, http.MethodGet, procedureAt(ref.Persona, ref.Name, "").with(ref), nil)
}

// List implements learning.ProcedureService.
func (p Procedures) List(ctx context.Context, filter learning.ProcedureFilter) (learning.ProcedurePage, error) {
	return call[learning.ProcedurePage](ctx, p.c, http.MethodGet, at("/api/procedures").with(filter), nil)
}

// Search implements learning.ProcedureService.
func (p Procedures) Search(ctx context.Context, query learning.ProcedureQuery) (learning.ProcedureResults, error) {
	return call[learning.ProcedureResults](ctx, p.c, http.MethodPost, at("/api/procedures/search"), query)
}

// Delete implements learning.ProcedureService.
func (p Procedures) Delete(ctx context.Context, ref learning.ProcedureRef) error {
	_, err := call[struct{}](ctx, p.c, http.MethodDelete, procedureAt(ref.Persona, ref.Name, ""), nil)
	return err
}

// Problems implements learning.ProcedureService.
func (p Procedures) Problems(ctx context.Context) ([]learning.FileProblem, error) {
	return list[learning.FileProblem](ctx, p.c, at("/api/procedures/problems"), "problems")
}

// Stats implements learning.ProcedureService.
func (p Procedures) Stats(ctx context.Context) (learning.ProcedureStats, error) {
	return call[learning.ProcedureStats](ctx, p.c, http.MethodGet, at("/api/procedures/stats"), nil)
}

// Start implements learning.ProcedureService.
func (p Procedures) Start(ctx context.Context, draft learning.RunDraft) (learning.Run, error) {
	body := struct {
		learning.RunDraft
		Persona *struct{} `json:"persona,omitempty"`
		Name    *struct{} `json:"name,omitempty"`
	}{RunDraft: draft}
	return call[learning.Run](ctx, p.c, http.MethodPost, procedureAt(draft.Persona, draft.Name, "/runs"), body)
}

// Run implements learning.ProcedureService.
func (p Procedures) Run(ctx context.Context, id string) (learning.Run, error) {
	return call[learning.Run](ctx, p.c, http.MethodGet, at("/api/runs/{run_id}", id), nil)
}

// Runs implements learning.ProcedureService.
func (p Procedures) Runs(ctx context.Context, filter learning.RunFilter) ([]learning.Run, error) {
	return list[learning.Run](ctx, p.c, at("/api/runs").with(filter), "runs")
}

// Next implements learning.ProcedureService.
func (p Procedures) Next(ctx context.Context, request learning.StepRequest) (learning.Run, error) {
	return call[learning.Run](ctx, p.c, http.MethodPost, at("/api/runs/{run_id}/next", request.RunID), struct {
		Again bool `json:"again,omitempty"`
	}{request.Again})
}

// Report implements learning.ProcedureService.
func (p Procedures) Report(ctx context.Context, report learning.StepReport) (learning.Run, error) {
	body := struct {
		learning.StepReport
		RunID *struct{} `json:"run_id,omitempty"`
		Index *struct{} `json:"index,omitempty"`
	}{StepReport: report}
	return call[learning.Run](ctx, p.c, http.MethodPost, at("/api/runs/{run_id}/steps/{index}", report.RunID, report.Index), body)
}

// Abandon implements learning.ProcedureService.
func (p Procedures) Abandon(ctx context.Context, id, reason string) (learning.Run, error) {
	return call[learning.Run](ctx, p.c, http.MethodPost, at("/api/runs/{run_id}/abandon", id), struct {
		Reason string `json:"reason,omitempty"`
	}{reason})
}
