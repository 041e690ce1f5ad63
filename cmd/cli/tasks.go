package cli

import (
	"context"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"skillrouter/operational"
	"skillrouter/router/client"
)

func (s *shell) tasksCommand() *cobra.Command {
	var block operational.TaskBlock
	var result operational.TaskResult
	var failure operational.TaskFailure
	var to operational.TaskAssignment
	var unblock, release, cancel operational.TaskNote
	var nobody string // handing a task on is nobody's in particular
	return s.group(
		&cobra.Command{
			Use: "tasks", Short: "Share work: add, claim, report, finish",
			Long: "Shares work between agents. A task is named by its number, such as 7, or by its id.",
		},
		s.tasksList(), s.tasksAdd(), s.tasksShow(), s.tasksClaim(), s.tasksProgress(),
		tasksVerb(s, "block TASK REASON", "Say that a task cannot go on, and why", 2, operational.TaskService.Block, &block, &block.AgentID, &block.Reason),
		tasksVerb(s, "unblock TASK [NOTE]", "Let a blocked task go on", 1, operational.TaskService.Unblock, &unblock, &unblock.AgentID, &unblock.Note),
		tasksVerb(s, "complete TASK [RESULT]", "End a task with its result", 1, operational.TaskService.Complete, &result, &result.AgentID, &result.Result),
		tasksVerb(s, "fail TASK ERROR", "End a task that failed, and say why", 2, operational.TaskService.Fail, &failure, &failure.AgentID, &failure.Error),
		tasksVerb(s, "release TASK [NOTE]", "Give a task back for another to claim", 1, operational.TaskService.Release, &release, &release.AgentID, &release.Note),
		tasksVerb(s, "cancel TASK [NOTE]", "End a task that is not wanted any more", 1, operational.TaskService.Cancel, &cancel, &cancel.AgentID, &cancel.Note),
		tasksVerb(s, "reassign TASK AGENT", "Hand a task to an agent, whoever holds it", 2, operational.TaskService.Reassign, &to, &nobody, &to.AgentID),
	)
}

// tasksVerb is a change of one task by in, which holds who does it and a text.
func tasksVerb[In any](
	s *shell, use, short string, least int, change func(tasks operational.TaskService, ctx context.Context, ref string, in In) (operational.Task, error), in *In, agent, text *string,
) *cobra.Command {
	var ref string
	return asks(s, command{
		use: use, short: short, args: joined(least, &ref, text),
		flags: options{who("agent", agent, s.agent, "agent that does it (SKILLROUTER_AGENT)")},
	}, sendsTo(change, &ref, in), taskTable.one)
}

func (s *shell) tasksList() *cobra.Command {
	var filter operational.TaskFilter
	var all bool
	return lists(s, command{use: "list", short: "List unfinished tasks, the most urgent first", flags: append(s.flags(&filter, "status", "agent", "project", "unheld", "text", "limit"),
		option("all", &all, "finished ones too"),
	), before: func() error {
		if !all && len(filter.Status) == 0 {
			filter.Open = new(true)
		}
		return nil
	}}, operational.DefaultLimit, operational.MaxLimit, &filter.Limit, sends(operational.TaskService.List, &filter), taskTable.list)
}

func (s *shell) tasksAdd() *cobra.Command {
	draft := operational.TaskDraft{CreatedBy: s.env("SKILLROUTER_AGENT")}
	return asks(s, command{
		use: "add TITLE [DESCRIPTION]", short: "Add a task", args: between(1, &draft.Title, &draft.Description),
		flags: s.flags(&draft, "project", "priority", "agent"),
	}, sends(operational.TaskService.Create, &draft), taskTable.one)
}

func (s *shell) tasksShow() *cobra.Command {
	var ref string
	return asks(s, command{use: "show TASK", short: "Show one task", args: exactly(&ref)}, sends(operational.TaskService.Task, &ref), func(w io.Writer, task operational.Task) {
		taskTable.one(w, task)
		sections(w, section{"Description", task.Description}, section{"Blocked", task.BlockedReason},
			section{"Note", task.Note}, section{"Result", task.Result}, section{"Error", task.Error})
	})
}

func (s *shell) tasksClaim() *cobra.Command {
	var ref *string
	var claim operational.TaskClaim
	return asks(s, command{
		use: "claim [TASK] [--agent ID]", short: "Claim a task, or the next that waits", args: perhaps(&ref),
		flags: s.flags(&claim, "agent", "project"),
	}, func(ctx context.Context, c *client.Client) (operational.Task, error) {
		if ref == nil {
			return client.Send(ctx, c, operational.TaskService.ClaimNext, claim)
		}
		return client.SendTo(ctx, c, operational.TaskService.Claim, *ref, claim)
	}, taskTable.one)
}

func (s *shell) tasksProgress() *cobra.Command {
	var ref, percentage string
	var report operational.TaskProgress
	return asks(s, command{
		use: "progress TASK PERCENT [NOTE]", short: "Report how far a task has come", args: joined(2, &ref, &percentage, &report.Note),
		flags: options{who("agent", &report.AgentID, s.agent, "agent that reports (SKILLROUTER_AGENT)")},
		before: func() error {
			percent, err := strconv.ParseFloat(strings.TrimSuffix(percentage, "%"), 64)
			if err != nil || math.IsNaN(percent) || math.IsInf(percent, 0) {
				return usagef("%q is no percentage", percentage)
			}
			report.Progress = &percent
			return nil
		},
	}, sendsTo(operational.TaskService.Progress, &ref, &report), taskTable.one)
}

var taskTable = columns[operational.Task]{
	"No tasks.",
	[]string{"NO", "TITLE", "STATUS", "AGENT", "PROJECT", "PRIO", "CHANGED"},
	func(t operational.Task) cells {
		status := string(t.Status)
		if t.Progress > 0 && t.Status == operational.TaskInProgress {
			status = fmt.Sprintf("%s %d%%", status, t.Progress)
		}
		return cells{t.Number, t.Title, status, t.AgentID, t.Project, t.Priority, t.UpdatedAt}
	},
}
