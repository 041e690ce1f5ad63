package mcpserver

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"skillrouter/comms"
	"skillrouter/operational"
)

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
	tasks := s.services.Tasks
	add(s, tool{
		name: "create_team_task", title: "Create a team task", set: ToolsetOperations, effect: adds, holds: "task",
		description: "Put work into the team's queue, for any agent to claim.",
	}, described[operational.TaskDraft]("title!", "description", "project", "priority", "agent_id"), then(tasks.Create, shownTeamTask))
	add(s, tool{
		name: "list_team_tasks", title: "List team tasks", set: ToolsetOperations, effect: reads, holds: "tasks summary",
		description: "What the team has to do and has done: open tasks by priority, then finished ones, the latest first; with a count by status.",
	}, described[operational.TaskFilter]("status", "agent_id", "project", "open", "unheld", "text", "after", "limit"), then(s.teamTasks, func(out teamTasks) (teamTasks, string) {
		f := listing(out.Tasks, &out.Notice, teamTaskEntry, "No task fits.", "%s of %d, %d of them open.",
			count(len(out.Tasks), "task", "tasks"), out.Summary.Total, out.Summary.Open)
		return out, f.String()
	}))
	add(s, tool{
		name: "get_team_task", title: "One team task", set: ToolsetOperations, effect: reads, holds: "task",
		description: "Everything about one task.",
		resource: &resource{
			template: "tasks://{id}", name: "task", description: "A task of the team, by its id or number", arguments: []string{"task"},
			latest: func(ctx context.Context, offer func(name string, values ...string)) error {
				open := true
				list, err := tasks.List(ctx, operational.TaskFilter{Open: &open, Limit: listedPerKind})
				for _, t := range list {
					offer(": "+t.Title, strconv.FormatInt(t.Number, 10))
				}
				return err
			},
		},
	}, whichTask, then(tasks.Task, shownTeamTask))
	add(s, tool{
		name: "claim_team_task", title: "Claim a team task", set: ToolsetOperations, effect: adds, holds: "task",
		description: "Take a task that waits; without task, the next by priority.",
	}, describedOne[string, operational.TaskClaim]("task", itsNumber, "project", "agent_id"), then(func(ctx context.Context, c change[string, operational.TaskClaim]) (operational.Task, error) {
		if c.id == "" {
			return tasks.ClaimNext(ctx, c.draft)
		}
		return tasks.Claim(ctx, c.id, c.draft)
	}, shownTeamTask))
	addTaskTool(s, tool{
		name: "report_task_progress", title: "Report a task's progress", effect: ensure,
		description: "Say how far you are with a task that you hold.",
	}, described[operational.TaskProgress]("progress", "note", "agent_id"), tasks.Progress)
	note := described[operational.TaskNote]("note", "agent_id")
	addTaskTool(s, tool{
		name: "block_team_task", title: "A task is blocked", effect: adds,
		description: "Say that your task cannot go on, and why.",
	}, described[operational.TaskBlock]("reason!", "agent_id"), tasks.Block)
	addTaskTool(s, tool{
		name: "unblock_team_task", title: "A task can go on", effect: adds,
		description: "Let a blocked task go on where it stood.",
	}, note, tasks.Unblock)
	addTaskTool(s, tool{
		name: "complete_team_task", title: "Complete a team task", effect: adds,
		description: "End your task with its result.",
	}, described[operational.TaskResult]("result", "agent_id"), tasks.Complete)
	addTaskTool(s, tool{
		name: "fail_team_task", title: "A task has failed", effect: adds,
		description: "End your task with what went wrong.",
	}, described[operational.TaskFailure]("error!", "agent_id"), tasks.Fail)
	addTaskTool(s, tool{
		name: "release_team_task", title: "Release a team task", effect: adds,
		description: "Give your task back, for another to claim.",
	}, note, tasks.Release)
	addTaskTool(s, tool{
		name: "cancel_team_task", title: "Cancel a team task", effect: adds,
		description: "End a task that is not wanted any more.",
	}, note, tasks.Cancel)
	addTaskTool(s, tool{
		name: "reassign_team_task", title: "Reassign a team task", effect: adds,
		description: "Hand an open task to an agent, whoever holds it; for the captain.",
	}, described[operational.TaskAssignment]("agent_id!", "note"), tasks.Reassign)
}

// addTaskTool offers what may be done to one task.
func addTaskTool[Draft any](s *Server, t tool, takes func(*params, *Draft), ask func(context.Context, string, Draft) (operational.Task, error)) {
	t.set, t.holds = ToolsetOperations, "task"
	add(s, t, func(p *params, c *change[string, Draft]) {
		whichTask(p, &c.id)
		takes(p, &c.draft)
	}, then(changing(ask), shownTeamTask))
}

const itsNumber = "Its number or id"

func whichTask(p *params, task *string) { p.must("task", task, itsNumber) }

func (s *Server) teamTasks(ctx context.Context, filter operational.TaskFilter) (out teamTasks, err error) {
	found, err := s.services.Tasks.List(ctx, filter)
	if err != nil {
		return out, err
	}
	out.Tasks = owned(found)
	out.Summary, err = s.services.Tasks.Summary(ctx, filter)
	return out, err
}

func shownTeamTask(t operational.Task) (oneTeamTask, string) {
	text := alone(&t, teamTaskEntry, "Task %d is %s.", t.Number, t.Status)
	return oneTeamTask{t, notice}, text
}

func teamTaskEntry(t *operational.Task) entry {
	return entry{[]*string{&t.Title, &t.BlockedReason, &t.Error, &t.Result, &t.Note, &t.Description}, func(cut int) (string, []string) {
		label := fmt.Sprintf("task %d, %s, priority %d, %d %%, changed %s", t.Number, t.Status, t.Priority, t.Progress, t.UpdatedAt.UTC().Format(time.RFC3339))
		if t.AgentID != "" {
			label += ", held by " + author(t.AgentID)
		}
		return label, []string{
			attributes("id", t.ID, "project", t.Project, "created by", t.CreatedBy),
			t.Title, t.Description, part("Note", t.Note), part("Blocked", t.BlockedReason), part("Result", t.Result), part("Error", t.Error), cutNote(cut),
		}
	}}
}

type heldLeases struct {
	Leases []operational.Lease `json:"leases"`
	Notice string              `json:"notice,omitempty"`
}

type oneLease struct {
	Lease operational.Lease `json:"lease"`
}

// addLeaseTools offers what agents say of the files that they work on.
func (s *Server) addLeaseTools() {
	leases := s.services.Leases
	add(s, tool{
		name: "take_lease", title: "Take a lease of files", set: ToolsetOperations, effect: ensure, holds: "lease",
		description: "Say that you work on files, so that others are told before they change them. It holds while you check in, and ends with your session.",
	}, described[operational.LeaseDraft]("patterns!", "glob", "why", "shared", "ttl_seconds", "folder", "project", "agent_id"), then(leases.Take, func(l operational.Lease) (oneLease, string) {
		return oneLease{l}, fmt.Sprintf("You hold lease %d. It lapses at %s if nothing is heard of you until then.", l.ID, l.ExpiresAt.UTC().Format(time.RFC3339))
	}))
	add(s, tool{
		name: "list_leases", title: "List leases", set: ToolsetOperations, effect: reads, holds: "leases",
		description: "Who works on which files, the latest first.",
	}, described[operational.LeaseFilter]("path", "agent_id", "project", "limit"), then(leases.Leases, func(found []operational.Lease) (heldLeases, string) {
		out := heldLeases{Leases: owned(found)}
		return out, listing(out.Leases, &out.Notice, leaseEntry, "No lease is held.", "%s.", count(len(found), "lease", "leases")).String()
	}))
	add(s, tool{
		name: "release_lease", title: "Give leases back", set: ToolsetOperations, effect: ensure, holds: "leases",
		description: "Give back leases that you hold; without ids all of them.",
	}, described[operational.LeaseRelease]("lease_ids", "agent_id"), then(leases.Release, func(found []operational.Lease) (heldLeases, string) {
		out := heldLeases{Leases: owned(found)}
		return out, listing(out.Leases, &out.Notice, leaseEntry, "No lease was held.", "%s given back.", count(len(found), "lease", "leases")).String()
	}))
	add(s, tool{
		name: "ask_lease_holder", title: "Ask the holder of a lease", set: ToolsetOperations, effect: adds, holds: "message_id",
		description: "Send a message to whoever holds a lease, such as what you need of the file, and when.",
	}, described[operational.LeaseQuestion]("lease_id!", "text!", "agent_id"), then(leases.Ask, func(sent comms.Sent) (comms.Sent, string) {
		return sent, "The message is in the mailbox of " + visible(sent.Target) + "."
	}))
}

func leaseEntry(l *operational.Lease) entry {
	return entry{[]*string{&l.Why}, func(cut int) (string, []string) {
		kind := "exclusive"
		if l.Shared {
			kind = "shared"
		}
		return fmt.Sprintf("lease %d, %s, until %s, held by %s", l.ID, kind, l.ExpiresAt.UTC().Format(time.RFC3339), author(l.AgentID)),
			[]string{attributes("project", l.Project, "folder", l.Folder), part("Files", strings.Join(l.Patterns, " ")), part("Why", l.Why), cutNote(cut)}
	}}
}
