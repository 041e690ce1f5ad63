package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"skillrouter/operational"
)

// TaskList is the answer of GET /api/tasks.
type TaskList struct {
	Tasks []operational.Task `json:"tasks"`
	Count int                `json:"count" doc:"How many are in this answer"`
}

// taskSelection is what GET /api/tasks and its summary may be asked for.
type taskSelection struct {
	Status  []operational.TaskStatus `query:"status" doc:"One or more, separated by commas: pending, claimed, in_progress, blocked, completed, failed, cancelled"`
	AgentID string                   `query:"agent_id" doc:"Only those that this agent holds"`
	Project string                   `query:"project"`
	Open    string                   `query:"open" enum:"true,false" doc:"true: only unfinished ones; false: only finished ones"`
	Unheld  bool                     `query:"unheld" doc:"Only those that no agent holds"`
	Text    string                   `query:"text" doc:"Words that the title or description holds, in any case"`
	AnyOf   []string                 `query:"any_of" doc:"Words, separated by commas, of which it must hold one; those that hold more come first"`
	Since   time.Time                `query:"since" doc:"Only those changed at or after this time"`
	Until   time.Time                `query:"until" doc:"Only those changed before this time"`
	After   int64                    `query:"after" minimum:"0" doc:"Only those that are listed after the task of this number, for the next page"`
	Limit   int                      `query:"limit" minimum:"0" maximum:"1000" doc:"0: 100"`
}

func (s taskSelection) filter() operational.TaskFilter {
	f := operational.TaskFilter{
		Status: s.Status, AgentID: s.AgentID, Project: s.Project, Unheld: s.Unheld, Text: s.Text, AnyOf: s.AnyOf,
		Since: s.Since, Until: s.Until, After: s.After, Limit: s.Limit,
	}
	if s.Open != "" {
		open := s.Open == "true"
		f.Open = &open
	}
	return f
}

// changeInput is a change of one thing. The body may be left out where every member of it may be.
type changeInput[Body any] struct {
	ID   string `path:"id" doc:"Its id; of a task, its number too"`
	Body *Body
}

func (s *Server) taskRoutes() {
	tasks := s.services.Tasks
	if tasks == nil {
		return
	}
	op := func(method, path, summary string) huma.Operation {
		return operation(method, "/api/tasks"+path, "tasks", summary)
	}

	created := op(http.MethodPost, "", "Create a task; with agent_id it is claimed at once")
	created.DefaultStatus = http.StatusCreated
	register(s, created, func(ctx context.Context, in *struct{ Body operational.TaskDraft }) (*answer[operational.Task], error) {
		task, err := tasks.Create(ctx, in.Body)
		return &answer[operational.Task]{Status: http.StatusCreated, Body: task}, err
	})
	register(s, op(http.MethodGet, "", "List tasks: open ones by priority, then finished ones, the latest first"),
		func(ctx context.Context, in *taskSelection) (*answer[TaskList], error) {
			list, err := tasks.List(ctx, in.filter())
			return reply(TaskList{Tasks: emptied(list), Count: len(list)}), err
		})
	register(s, op(http.MethodGet, "/summary", "Count tasks by status"),
		func(ctx context.Context, in *taskSelection) (*answer[operational.TaskSummary], error) {
			summary, err := tasks.Summary(ctx, in.filter())
			return reply(summary), err
		})
	register(s, op(http.MethodPost, "/claim", "Claim the next waiting task, by priority, then by number"),
		func(ctx context.Context, in *struct{ Body *operational.TaskClaim }) (*answer[operational.Task], error) {
			task, err := tasks.ClaimNext(ctx, given(in.Body))
			return reply(task), err
		})
	register(s, op(http.MethodGet, "/{id}", "One task"),
		func(ctx context.Context, in *struct {
			ID string `path:"id" doc:"The task's id or number"`
		},
		) (*answer[operational.Task], error) {
			task, err := tasks.Task(ctx, in.ID)
			return reply(task), err
		})
	taskChange(s, op(http.MethodPost, "/{id}/claim", "Claim this task"), tasks.Claim)
	taskChange(s, op(http.MethodPost, "/{id}/progress", "Report how far it has come"), tasks.Progress)
	taskChange(s, op(http.MethodPost, "/{id}/block", "Say that it cannot go on, and why"), tasks.Block)
	taskChange(s, op(http.MethodPost, "/{id}/unblock", "Let it go on"), tasks.Unblock)
	taskChange(s, op(http.MethodPost, "/{id}/complete", "End it with its result"), tasks.Complete)
	taskChange(s, op(http.MethodPost, "/{id}/fail", "End it with its error"), tasks.Fail)
	taskChange(s, op(http.MethodPost, "/{id}/release", "Give it back for another to claim"), tasks.Release)
	taskChange(s, op(http.MethodPost, "/{id}/cancel", "End it, because it is not wanted any more"), tasks.Cancel)
	taskChange(s, op(http.MethodPost, "/{id}/reassign", "Hand it to an agent, whoever holds it; for the Captain"), tasks.Reassign)
}

// taskChange mounts a change of one task.
func taskChange[Body any](s *Server, op huma.Operation, change func(ctx context.Context, ref string, body Body) (operational.Task, error)) {
	register(s, op, func(ctx context.Context, in *changeInput[Body]) (*answer[operational.Task], error) {
		task, err := change(ctx, in.ID, given(in.Body))
		return reply(task), err
	})
}

// given is a body that may have been left out.
func given[T any](body *T) T {
	if body == nil {
		var none T
		return none
	}
	return *body
}

// emptied makes an absent list an empty one, which JSON writes as [].
func emptied[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
