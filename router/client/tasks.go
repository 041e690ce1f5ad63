package client

import (
	"context"
	"net/http"

	"skillrouter/operational"
)

// Tasks is operational.TaskService over HTTP.
type Tasks struct{ c *Client }

var _ operational.TaskService = Tasks{}

// Create implements operational.TaskService.
func (t Tasks) Create(ctx context.Context, draft operational.TaskDraft) (operational.Task, error) {
	return call[operational.Task](ctx, t.c, http.MethodPost, at("/api/tasks"), draft)
}

// Task implements operational.TaskService.
func (t Tasks) Task(ctx context.Context, ref string) (operational.Task, error) {
	return call[operational.Task](ctx, t.c, http.MethodGet, at("/api/tasks/{id}", ref), nil)
}

// List implements operational.TaskService.
func (t Tasks) List(ctx context.Context, filter operational.TaskFilter) ([]operational.Task, error) {
	return list[operational.Task](ctx, t.c, at("/api/tasks").with(filter), "tasks")
}

// Summary implements operational.TaskService.
func (t Tasks) Summary(ctx context.Context, filter operational.TaskFilter) (operational.TaskSummary, error) {
	return call[operational.TaskSummary](ctx, t.c, http.MethodGet, at("/api/tasks/summary").with(filter), nil)
}

// Claim implements operational.TaskService.
func (t Tasks) Claim(ctx context.Context, ref string, claim operational.TaskClaim) (operational.Task, error) {
	return t.change(ctx, ref, "claim", claim)
}

// ClaimNext implements operational.TaskService.
func (t Tasks) ClaimNext(ctx context.Context, claim operational.TaskClaim) (operational.Task, error) {
	return call[operational.Task](ctx, t.c, http.MethodPost, at("/api/tasks/claim"), claim)
}

// Progress implements operational.TaskService.
func (t Tasks) Progress(ctx context.Context, ref string, report operational.TaskProgress) (operational.Task, error) {
	return t.change(ctx, ref, "progress", report)
}

// Block implements operational.TaskService.
func (t Tasks) Block(ctx context.Context, ref string, block operational.TaskBlock) (operational.Task, error) {
	return t.change(ctx, ref, "block", block)
}

// Unblock implements operational.TaskService.
func (t Tasks) Unblock(ctx context.Context, ref string, note operational.TaskNote) (operational.Task, error) {
	return t.change(ctx, ref, "unblock", note)
}

// Complete implements operational.TaskService.
func (t Tasks) Complete(ctx context.Context, ref string, result operational.TaskResult) (operational.Task, error) {
	return t.change(ctx, ref, "complete", result)
}

// Fail implements operational.TaskService.
func (t Tasks) Fail(ctx context.Context, ref string, failure operational.TaskFailure) (operational.Task, error) {
	return t.change(ctx, ref, "fail", failure)
}

// Release implements operational.TaskService.
func (t Tasks) Release(ctx context.Context, ref string, note operational.TaskNote) (operational.Task, error) {
	return t.change(ctx, ref, "release", note)
}

// Cancel implements operational.TaskService.
func (t Tasks) Cancel(ctx context.Context, ref string, note operational.TaskNote) (operational.Task, error) {
	return t.change(ctx, ref, "cancel", note)
}

// Reassign implements operational.TaskService.
func (t Tasks) Reassign(ctx context.Context, ref string, to operational.TaskAssignment) (operational.Task, error) {
	return t.change(ctx, ref, "reassign", to)
}

func (t Tasks) change(ctx context.Context, ref, verb string, body any) (operational.Task, error) {
	return call[operational.Task](ctx, t.c, http.MethodPost, at("/api/tasks/{id}/"+verb, ref), body)
}
