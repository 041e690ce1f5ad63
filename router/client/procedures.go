package client

import (
	"cmp"
	"context"
	"net/http"

	"skillrouter/learning"
	"skillrouter/learning/procedure"
)

// Procedures is procedure.Service over HTTP.
type Procedures struct{ c *Client }

var _ procedure.Service = Procedures{}

// procedureAt is a path below a procedure.
func procedureAt(persona, name, below string) address {
	return at("/api/procedures/{persona}/{name}"+below, cmp.Or(persona, learning.DefaultPersona), name)
}

// Save implements procedure.Service.
func (p Procedures) Save(ctx context.Context, draft procedure.Draft) (procedure.Saved, error) {
	if draft.Steps == nil {
		draft.Steps = []procedure.Step{} // the router says what is wrong with it
	}
	// The place is in the path and not in the body.
	body := struct {
		procedure.Draft
		Persona *struct{} `json:"persona,omitempty"`
		Name    *struct{} `json:"name,omitempty"`
	}{Draft: draft}
	return call[procedure.Saved](ctx, p.c, http.MethodPut, procedureAt(draft.Persona, draft.Name, ""), body)
}

// Procedure implements procedure.Service.
func (p Procedures) Procedure(ctx context.Context, ref procedure.Ref) (procedure.Procedure, error) {
	return call[procedure.Procedure](ctx, p.c, http.MethodGet, procedureAt(ref.Persona, ref.Name, "").with(ref), nil)
}

// List implements procedure.Service.
func (p Procedures) List(ctx context.Context, filter procedure.Filter) (procedure.Page, error) {
	return call[procedure.Page](ctx, p.c, http.MethodGet, at("/api/procedures").with(filter), nil)
}

// Search implements procedure.Service.
func (p Procedures) Search(ctx context.Context, query procedure.Query) (procedure.Results, error) {
	return call[procedure.Results](ctx, p.c, http.MethodPost, at("/api/procedures/search"), query)
}

// Delete implements procedure.Service.
func (p Procedures) Delete(ctx context.Context, ref procedure.Ref) error {
	return done(ctx, p.c, http.MethodDelete, procedureAt(ref.Persona, ref.Name, ""), nil)
}

// Problems implements procedure.Service.
func (p Procedures) Problems(ctx context.Context) ([]procedure.FileProblem, error) {
	return list[procedure.FileProblem](ctx, p.c, at("/api/procedures/problems"), "problems")
}

// Stats implements procedure.Service.
func (p Procedures) Stats(ctx context.Context) (procedure.Stats, error) {
	return call[procedure.Stats](ctx, p.c, http.MethodGet, at("/api/procedures/stats"), nil)
}

// Start implements procedure.Service.
func (p Procedures) Start(ctx context.Context, draft procedure.RunDraft) (procedure.Run, error) {
	body := struct {
		procedure.RunDraft
		Persona *struct{} `json:"persona,omitempty"`
		Name    *struct{} `json:"name,omitempty"`
	}{RunDraft: draft}
	return call[procedure.Run](ctx, p.c, http.MethodPost, procedureAt(draft.Persona, draft.Name, "/runs"), body)
}

// Run implements procedure.Service.
func (p Procedures) Run(ctx context.Context, id string) (procedure.Run, error) {
	return call[procedure.Run](ctx, p.c, http.MethodGet, at("/api/runs/{run_id}", id), nil)
}

// Runs implements procedure.Service.
func (p Procedures) Runs(ctx context.Context, filter procedure.RunFilter) ([]procedure.Run, error) {
	return list[procedure.Run](ctx, p.c, at("/api/runs").with(filter), "runs")
}

// Next implements procedure.Service.
func (p Procedures) Next(ctx context.Context, request procedure.StepRequest) (procedure.Run, error) {
	return call[procedure.Run](ctx, p.c, http.MethodPost, at("/api/runs/{run_id}/next", request.RunID), struct {
		Again bool `json:"again,omitempty"`
	}{request.Again})
}

// Report implements procedure.Service.
func (p Procedures) Report(ctx context.Context, report procedure.StepReport) (procedure.Run, error) {
	body := struct {
		procedure.StepReport
		RunID *struct{} `json:"run_id,omitempty"`
		Index *struct{} `json:"index,omitempty"`
	}{StepReport: report}
	return call[procedure.Run](ctx, p.c, http.MethodPost, at("/api/runs/{run_id}/steps/{index}", report.RunID, report.Index), body)
}

// Abandon implements procedure.Service.
func (p Procedures) Abandon(ctx context.Context, id, reason string) (procedure.Run, error) {
	return call[procedure.Run](ctx, p.c, http.MethodPost, at("/api/runs/{run_id}/abandon", id), struct {
		Reason string `json:"reason,omitempty"`
	}{reason})
}
