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
	group := s.group(
		&cobra.Command{
			Use: "tasks", Short: "Share work: add, claim, report, finish",
			Long: "Shares work between agents. A task is named by its number, such as 7, or by its id.",
		},
		s.tasksList(), s.tasksAdd(), s.tasksShow(), s.tasksClaim(), s.tasksProgress(),
	)
	type agentAnd = func(ctx context.Context, c *client.Client, ref, agent, text string) (operational.Task, error)
	for _, verb := range []struct {
		use, short string
		needs      bool // the text must be there
		call       agentAnd
	}{
		{"block TASK REASON", "Say that a task cannot go on, and why", true, func(ctx context.Context, c *client.Client, ref, agent, text string) (operational.Task, error) {
			return c.Tasks.Block(ctx, ref, operational.TaskBlock{AgentID: agent, Reason: text})
		}},
		{"unblock TASK [NOTE]", "Let a blocked task go on", false, func(ctx context.Context, c *client.Client, ref, agent, text string) (operational.Task, error) {
			return c.Tasks.Unblock(ctx, ref, operational.TaskNote{AgentID: agent, Note: text})
		}},
		{"complete TASK [RESULT]", "End a task with its result", false, func(ctx context.Context, c *client.Client, ref, agent, text string) (operational.Task, error) {
			return c.Tasks.Complete(ctx, ref, operational.TaskResult{AgentID: agent, Result: text})
		}},
		{"fail TASK ERROR", "End a task that failed, and say why", true, func(ctx context.Context, c *client.Client, ref, agent, text string) (operational.Task, error) {
			return c.Tasks.Fail(ctx, ref, operational.TaskFailure{AgentID: agent, Error: text})
		}},
		{"release TASK [NOTE]", "Give a task back for another to claim", false, func(ctx context.Context, c *client.Client, ref, agent, text string) (operational.Task, error) {
			return c.Tasks.Release(ctx, ref, operational.TaskNote{AgentID: agent, Note: text})
		}},
		{"cancel TASK [NOTE]", "End a task that is not wanted any more", false, func(ctx context.Context, c *client.Client, ref, agent, text string) (operational.Task, error) {
			return c.Tasks.Cancel(ctx, ref, operational.TaskNote{AgentID: agent, Note: text})
		}},
		{"reassign TASK AGENT", "Hand a task to an agent, whoever holds it", true, func(ctx context.Context, c *client.Client, ref, _, text string) (operational.Task, error) {
			return c.Tasks.Reassign(ctx, ref, operational.TaskAssignment{AgentID: text})
		}},
	} {
		group.AddCommand(s.tasksVerb(verb.use, verb.short, verb.needs, verb.call))
	}
	return group
}

// tasksVerb is a change of one task that takes a text.
func (s *shell) tasksVerb(use, short string, needsText bool, change func(ctx context.Context, c *client.Client, ref, agent, text string) (operational.Task, error)) *cobra.Command {
	var agent string
	least := 1
	if needsText {
		least = 2
	}
	cmd := s.remote(s.command(&cobra.Command{Use: use, Short: short, Args: cobra.MinimumNArgs(least)},
		func(ctx context.Context, args []string) error {
			c, err := s.client()
			if err != nil {
				return err
			}
			task, err := change(ctx, c, args[0], s.agent(agent), strings.Join(args[1:], " "))
			return s.printTask(task, err)
		}))
	cmd.Flags().StringVar(&agent, "agent", "", "agent that does it (SKILLROUTER_AGENT)")
	return cmd
}

func (s *shell) tasksList() *cobra.Command {
	var filter operational.TaskFilter
	var statuses []string
	var all bool
	cmd := s.remote(s.command(&cobra.Command{
		Use: "list", Short: "List unfinished tasks, the most urgent first", Args: cobra.NoArgs,
	}, func(ctx context.Context, _ []string) error {
		c, err := s.client()
		if err != nil {
			return err
		}
		for _, status := range statuses {
			filter.Status = append(filter.Status, operational.TaskStatus(status))
		}
		if !all && len(statuses) == 0 {
			open := true
			filter.Open = &open
		}
		tasks, err := c.Tasks.List(ctx, filter)
		if err != nil {
			return err
		}
		return s.print(tasks, func(w io.Writer) {
			if len(tasks) == 0 {
				fmt.Fprintln(w, "No tasks.")
				return
			}
			s.taskTable(w, tasks)
		})
	}))
	flags := cmd.Flags()
	flags.StringSliceVar(&statuses, "status", nil, "only those with this status; may be repeated")
	flags.BoolVar(&all, "all", false, "finished ones too")
	flags.StringVar(&filter.AgentID, "agent", "", "only those that this agent holds")
	flags.StringVar(&filter.Project, "project", "", "only those of this project")
	flags.BoolVar(&filter.Unheld, "unheld", false, "only those that nobody holds")
	flags.StringVar(&filter.Text, "text", "", "only those that hold these words")
	flags.IntVar(&filter.Limit, "limit", 0, "how many at most")
	return cmd
}

func (s *shell) tasksAdd() *cobra.Command {
	var draft operational.TaskDraft
	cmd := s.remote(s.command(&cobra.Command{
		Use: "add TITLE [DESCRIPTION]", Short: "Add a task", Args: cobra.RangeArgs(1, 2),
	}, func(ctx context.Context, args []string) error {
		draft.Title = args[0]
		if len(args) == 2 {
			draft.Description = args[1]
		}
		draft.CreatedBy = s.env("SKILLROUTER_AGENT")
		c, err := s.client()
		if err != nil {
			return err
		}
		task, err := c.Tasks.Create(ctx, draft)
		return s.printTask(task, err)
	}))
	flags := cmd.Flags()
	flags.StringVar(&draft.Project, "project", "", "project")
	flags.IntVar(&draft.Priority, "priority", 0, "priority, -10 to 10, greater first")
	flags.StringVar(&draft.AgentID, "agent", "", "claim it for this agent at once")
	return cmd
}

func (s *shell) tasksShow() *cobra.Command {
	return s.remote(s.command(&cobra.Command{
		Use: "show TASK", Short: "Show one task", Args: cobra.ExactArgs(1),
	}, func(ctx context.Context, args []string) error {
		c, err := s.client()
		if err != nil {
			return err
		}
		task, err := c.Tasks.Task(ctx, args[0])
		if err != nil {
			return err
		}
		return s.print(task, func(w io.Writer) {
			s.taskTable(w, []operational.Task{task})
			for _, part := range []struct{ name, text string }{
				{"Description", task.Description},
				{"Blocked", task.BlockedReason},
				{"Note", task.Note},
				{"Result", task.Result},
				{"Error", task.Error},
			} {
				if part.text != "" {
					fmt.Fprintf(w, "\n%s\n", part.name)
					indented(w, part.text)
				}
			}
		})
	}))
}

func (s *shell) tasksClaim() *cobra.Command {
	var claim operational.TaskClaim
	cmd := s.remote(s.command(&cobra.Command{
		Use: "claim [TASK] [--agent ID]", Short: "Claim a task, or the next that waits", Args: cobra.MaximumNArgs(1),
	}, func(ctx context.Context, args []string) error {
		claim.AgentID = s.agent(claim.AgentID)
		c, err := s.client()
		if err != nil {
			return err
		}
		if len(args) == 0 {
			task, err := c.Tasks.ClaimNext(ctx, claim)
			return s.printTask(task, err)
		}
		task, err := c.Tasks.Claim(ctx, args[0], claim)
		return s.printTask(task, err)
	}))
	cmd.Flags().StringVar(&claim.AgentID, "agent", "", "agent that claims it (SKILLROUTER_AGENT)")
	cmd.Flags().StringVar(&claim.Project, "project", "", "only a task of this project")
	return cmd
}

func (s *shell) tasksProgress() *cobra.Command {
	var report operational.TaskProgress
	cmd := s.remote(s.command(&cobra.Command{
		Use: "progress TASK PERCENT [NOTE]", Short: "Report how far a task has come", Args: cobra.MinimumNArgs(2),
	}, func(ctx context.Context, args []string) error {
		percent, err := strconv.ParseFloat(strings.TrimSuffix(args[1], "%"), 64)
		if err != nil || math.IsNaN(percent) || math.IsInf(percent, 0) {
			return usagef("%q is no percentage", args[1])
		}
		report.Progress, report.Note, report.AgentID = &percent, strings.Join(args[2:], " "), s.agent(report.AgentID)
		c, err := s.client()
		if err != nil {
			return err
		}
		task, err := c.Tasks.Progress(ctx, args[0], report)
		return s.printTask(task, err)
	}))
	cmd.Flags().StringVar(&report.AgentID, "agent", "", "agent that reports (SKILLROUTER_AGENT)")
	return cmd
}

// printTask prints what became of a task.
func (s *shell) printTask(task operational.Task, err error) error {
	if err != nil {
		return err
	}
	return s.print(task, func(w io.Writer) { s.taskTable(w, []operational.Task{task}) })
}

func (s *shell) taskTable(w io.Writer, tasks []operational.Task) {
	now := s.now()
	rows := make([][]string, len(tasks))
	for i, t := range tasks {
		status := string(t.Status)
		if t.Progress > 0 && t.Status == operational.TaskInProgress {
			status = fmt.Sprintf("%s %d%%", status, t.Progress)
		}
		rows[i] = []string{fmt.Sprint(t.Number), t.Title, status, t.AgentID, t.Project, fmt.Sprint(t.Priority), ago(now, t.UpdatedAt)}
	}
	table(w, []string{"NO", "TITLE", "STATUS", "AGENT", "PROJECT", "PRIO", "CHANGED"}, rows)
}
