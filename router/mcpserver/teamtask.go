package mcpserver

import (
	"context"
	"fmt"
	"slices"
	"time"

	"skillrouter/operational"
)

type createTeamTask struct {
	Title       string `json:"title"`
	Description string `json:"description"`
	Project     string `json:"project"`
	Priority    int    `json:"priority"`
	AgentID     string `json:"agent_id"`
}

type listTeamTasks struct {
	Status  []operational.TaskStatus `json:"status"`
	AgentID string                   `json:"agent_id"`
	Project string                   `json:"project"`
	Open    *bool                    `json:"open"`
	Unheld  bool                     `json:"unheld"`
	Text    string                   `json:"text"`
	After   int64                    `json:"after"`
	Limit   int                      `json:"limit"`
}

type teamTaskRef struct {
	Task string `json:"task"`
}

type claimTeamTask struct {
	Task    string `json:"task"`
	Project string `json:"project"`
	AgentID string `json:"agent_id"`
}

type reportTaskProgress struct {
	Task     string   `json:"task"`
	Progress *float64 `json:"progress"`
	Note     string   `json:"note"`
	AgentID  string   `json:"agent_id"`
}

// endTeamTask is what each way to change a task is told: one text, and who says it.
type endTeamTask struct {
	Task    string `json:"task"`
	Reason  string `json:"reason"`
	Result  string `json:"result"`
	Error   string `json:"error"`
	Note    string `json:"note"`
	AgentID string `json:"agent_id"`
}

type teamTasks struct {
	Tasks   []operational.Task      `json:"tasks"`
	Summary operational.TaskSummary `json:"summary"` // of all that fit, whatever the limit
	Notice  string                  `json:"notice,omitempty"`
}

type oneTeamTask struct {
	Task   operational.Task `json:"task"`
	Notice string           `json:"notice"`
}

// addTeamTaskTools offers the team's queue of tasks. Those of the reminders are one's own.
func (s *Server) addTeamTaskTools() {
	id, who := required(text("task", "Its number or id")), text("agent_id", "Default: you")
	change := func(name, title, description string, call func(context.Context, endTeamTask) (operational.Task, error), fields ...field) {
		add(s, tool{
			name: name, title: title, set: ToolsetOperations, effect: adds, description: description,
			input: arguments(slices.Concat([]field{id}, fields, []field{who})...), output: holds("task"),
		}, func(ctx context.Context, in endTeamTask) (reply[oneTeamTask], error) {
			in.AgentID = s.actor(ctx, in.AgentID)
			return shownTeamTask(call(ctx, in))
		})
	}
	tasks := s.services.Tasks
	add(s, tool{
		name: "create_team_task", title: "Create a team task", set: ToolsetOperations, effect: adds,
		description: "Put work into the team's queue, for any agent to claim.",
		input: arguments(
			required(text("title", "")),
			text("description", ""),
			text("project", ""),
			integer("priority", "Greater first", -10, 10),
			text("agent_id", "Claim it for this agent at once"),
		),
		output: holds("task"),
	}, s.createTeamTask)
	add(s, tool{
		name: "list_team_tasks", title: "List team tasks", set: ToolsetOperations, effect: reads,
		description: "What the team has to do and has done: open tasks by priority, then finished ones, the latest first; with a count by status.",
		input: arguments(
			severalOf("status", "", operational.TaskStatuses()...),
			text("agent_id", "Held by this agent"),
			text("project", ""),
			boolean("open", "true: unfinished ones, false: finished ones"),
			boolean("unheld", "Only those that no agent holds"),
			text("text", "Words of the title or description"),
			whole("after", "For the next page: number of the last task"),
			integer("limit", "Default 100", 1, operational.MaxLimit),
		),
		output: holds("tasks", "summary"),
	}, s.listTeamTasks)
	add(s, tool{
		name: "get_team_task", title: "One team task", set: ToolsetOperations, effect: reads,
		description: "Everything about one task.",
		input:       arguments(id), output: holds("task"),
	}, func(ctx context.Context, in teamTaskRef) (reply[oneTeamTask], error) {
		return shownTeamTask(tasks.Task(ctx, in.Task))
	})
	add(s, tool{
		name: "claim_team_task", title: "Claim a team task", set: ToolsetOperations, effect: adds,
		description: "Take a task that waits; without task, the next by priority.",
		input:       arguments(text("task", "Its number or id"), text("project", "Of the next one"), who), output: holds("task"),
	}, s.claimTeamTask)
	add(s, tool{
		name: "report_task_progress", title: "Report a task's progress", set: ToolsetOperations, effect: ensure,
		description: "Say how far you are with a task that you hold.",
		input:       arguments(id, number("progress", "", 0, 100), text("note", ""), who), output: holds("task"),
	}, s.reportTaskProgress)
	change("block_team_task", "A task is blocked", "Say that your task cannot go on, and why.",
		func(ctx context.Context, in endTeamTask) (operational.Task, error) {
			return tasks.Block(ctx, in.Task, operational.TaskBlock{AgentID: in.AgentID, Reason: in.Reason})
		}, required(text("reason", "")))
	change("unblock_team_task", "A task can go on", "Let a blocked task go on where it stood.",
		func(ctx context.Context, in endTeamTask) (operational.Task, error) {
			return tasks.Unblock(ctx, in.Task, operational.TaskNote{AgentID: in.AgentID, Note: in.Note})
		}, text("note", ""))
	change("complete_team_task", "Complete a team task", "End your task with its result.",
		func(ctx context.Context, in endTeamTask) (operational.Task, error) {
			return tasks.Complete(ctx, in.Task, operational.TaskResult{AgentID: in.AgentID, Result: in.Result})
		}, text("result", ""))
	change("fail_team_task", "A task has failed", "End your task with what went wrong.",
		func(ctx context.Context, in endTeamTask) (operational.Task, error) {
			return tasks.Fail(ctx, in.Task, operational.TaskFailure{AgentID: in.AgentID, Error: in.Error})
		}, required(text("error", "")))
	change("release_team_task", "Release a team task", "Give your task back, for another to claim.",
		func(ctx context.Context, in endTeamTask) (operational.Task, error) {
			return tasks.Release(ctx, in.Task, operational.TaskNote{AgentID: in.AgentID, Note: in.Note})
		}, text("note", ""))
	change("cancel_team_task", "Cancel a team task", "End a task that is not wanted any more.",
		func(ctx context.Context, in endTeamTask) (operational.Task, error) {
			return tasks.Cancel(ctx, in.Task, operational.TaskNote{AgentID: in.AgentID, Note: in.Note})
		}, text("note", ""))
	add(s, tool{
		name: "reassign_team_task", title: "Reassign a team task", set: ToolsetOperations, effect: adds,
		description: "Hand an open task to an agent, whoever holds it; for the captain.",
		input:       arguments(id, required(text("agent_id", "Who gets it")), text("note", "")), output: holds("task"),
	}, func(ctx context.Context, in endTeamTask) (reply[oneTeamTask], error) {
		return shownTeamTask(tasks.Reassign(ctx, in.Task, operational.TaskAssignment{AgentID: in.AgentID, Note: in.Note}))
	})
}

func (s *Server) createTeamTask(ctx context.Context, in createTeamTask) (reply[oneTeamTask], error) {
	return shownTeamTask(s.services.Tasks.Create(ctx, operational.TaskDraft{
		Title: in.Title, Description: in.Description, Project: in.Project, Priority: in.Priority, AgentID: in.AgentID, CreatedBy: s.actor(ctx, ""),
	}))
}

func (s *Server) listTeamTasks(ctx context.Context, in listTeamTasks) (reply[teamTasks], error) {
	filter := operational.TaskFilter{
		Status: in.Status, AgentID: in.AgentID, Project: in.Project, Open: in.Open, Unheld: in.Unheld, Text: in.Text, After: in.After, Limit: in.Limit,
	}
	found, err := s.services.Tasks.List(ctx, filter)
	if err != nil {
		return reply[teamTasks]{}, err
	}
	summary, err := s.services.Tasks.Summary(ctx, filter)
	if err != nil {
		return reply[teamTasks]{}, err
	}
	out := teamTasks{Tasks: append([]operational.Task{}, found...), Summary: summary}
	if len(found) == 0 {
		return reply[teamTasks]{out, "No task fits."}, nil
	}
	out.Notice = notice
	f := newFence("%s of %d, %d of them open.", count(len(found), "task", "tasks"), summary.Total, summary.Open)
	f.addTeamTasks(out.Tasks)
	return reply[teamTasks]{out, f.String()}, nil
}

func (s *Server) claimTeamTask(ctx context.Context, in claimTeamTask) (reply[oneTeamTask], error) {
	claim := operational.TaskClaim{AgentID: s.actor(ctx, in.AgentID), Project: in.Project}
	if in.Task == "" {
		return shownTeamTask(s.services.Tasks.ClaimNext(ctx, claim))
	}
	return shownTeamTask(s.services.Tasks.Claim(ctx, in.Task, claim))
}

func (s *Server) reportTaskProgress(ctx context.Context, in reportTaskProgress) (reply[oneTeamTask], error) {
	return shownTeamTask(s.services.Tasks.Progress(ctx, in.Task, operational.TaskProgress{
		AgentID: s.actor(ctx, in.AgentID), Progress: in.Progress, Note: in.Note,
	}))
}

// shownTeamTask is a task as a model sees it.
func shownTeamTask(t operational.Task, err error) (reply[oneTeamTask], error) {
	if err != nil {
		return reply[oneTeamTask]{}, err
	}
	f := newFence("Task %d is %s.", t.Number, t.Status)
	shown := []operational.Task{t}
	f.addTeamTasks(shown)
	return reply[oneTeamTask]{oneTeamTask{shown[0], notice}, f.String()}, nil
}

// addTeamTasks shortens the tasks to what an answer may hold and appends them.
func (f *fence) addTeamTasks(list []operational.Task) {
	items := make([][]*string, len(list))
	for i := range list {
		t := &list[i]
		items[i] = []*string{&t.Title, &t.BlockedReason, &t.Error, &t.Result, &t.Note, &t.Description}
	}
	left := fitTexts(items)
	f.explain()
	for i, t := range list {
		label := fmt.Sprintf("%d. task %d, %s, priority %d, %d %%, changed %s", i+1, t.Number, t.Status, t.Priority, t.Progress, t.UpdatedAt.UTC().Format(time.RFC3339))
		if t.AgentID != "" {
			label += ", held by " + author(t.AgentID)
		}
		f.add(label, attributes("id", t.ID, "project", t.Project, "created by", t.CreatedBy),
			t.Title, t.Description, part("Note", t.Note), part("Blocked", t.BlockedReason), part("Result", t.Result), part("Error", t.Error), cutNote(left[i]))
	}
}
