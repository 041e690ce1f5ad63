package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"skillrouter/comms"
	"skillrouter/operational"
	"skillrouter/router/client"
)

func (s *shell) agentsCommand() *cobra.Command {
	var filter operational.AgentFilter
	return asks(s, command{
		use: "agents [--state STATE] [--project NAME]", short: "List agents, the latest seen first",
		flags: options{
			choice("state", &filter.State, operational.AgentStates(), "only those in this state"),
			option("status", &filter.Status, "only those that report this status"),
			option("project", &filter.Project, "only those of this project"),
			option("role", &filter.Role, "only those with this role"),
			option("task", &filter.Task, "only those whose task holds this text"),
			limit(&filter.Limit),
		},
	}, sends(client.Presence.Agents, &filter), columns[operational.Agent]{
		"No agents.",
		[]string{"AGENT", "STATE", "STATUS", "TASK", "ROLE", "PROJECT", "SEEN"},
		func(a operational.Agent) cells {
			state := string(a.State)
			if a.ShouldStop {
				state += ", to stop"
			}
			return cells{a.ID, state, a.Status, progress(a.CurrentTask, a.Progress), a.Role, a.Project, a.LastSeen}
		},
	}.list)
}

// progress is a task with how far it has come, if it has.
func progress(task string, percent int) string {
	if task != "" && percent > 0 {
		return fmt.Sprintf("%s (%d%%)", cell(task), percent)
	}
	return task
}

func (s *shell) statusCommand() *cobra.Command {
	var agent *string
	return s.calls(command{
		use: "status [AGENT]", short: "Show how the router is, or one agent with what waits for it", args: perhaps(&agent), starts: never,
	}, func(ctx context.Context, c *client.Client) error {
		if agent != nil {
			status, err := agentStatusOf(ctx, c, *agent)
			return printed(s, status, err, s.printAgentStatus)
		}
		health, err := c.System.Health(ctx)
		return printed(s, health, err, func(w io.Writer, health client.Health) {
			fmt.Fprintf(w, "The router at %s is %s.\n", c.BaseURL(), clean(health.Status))
			list := []section{{"Version", cell(health.Version)}, {"Up since", ago(s.now(), s.now().Add(-millis(health.UptimeMS)))}}
			for _, name := range sorted(health.Stats) {
				list = append(list, section{cell(name), fmt.Sprint(health.Stats[name])})
			}
			fields(w, list...)
			for _, problem := range health.Problems {
				fmt.Fprintln(w, clean(problem))
			}
		})
	})
}

// agentStatus is an agent with what waits for it.
type agentStatus struct {
	operational.Agent
	Waiting comms.ShutdownAnswer `json:"waiting"`
}

func agentStatusOf(ctx context.Context, c *client.Client, id string) (status agentStatus, err error) {
	if status.Agent, err = c.Presence.Agent(ctx, id); err != nil {
		return status, err
	}
	status.Waiting, err = c.Presence.ShutdownCheck(ctx, id)
	return status, err
}

func (s *shell) printAgentStatus(w io.Writer, agent agentStatus) {
	process, stop := "", ""
	if agent.PID != 0 {
		process = fmt.Sprint(agent.PID)
	}
	if agent.ShouldStop {
		stop = "yes: " + agent.StopReason
	}
	fields(w, section{"Agent", agent.ID}, section{"State", string(agent.State)}, section{"Status", agent.Status},
		section{"Task", progress(agent.CurrentTask, agent.Progress)}, section{"Role", agent.Role}, section{"Model", agent.Model},
		section{"Project", agent.ProjectPath}, section{"Process", process},
		section{"Started", ago(s.now(), agent.StartedAt)}, section{"Seen", ago(s.now(), agent.LastSeen)}, section{"To stop", stop})
	if n := len(agent.Waiting.Unacknowledged); n > 0 {
		fmt.Fprintf(w, "\n%s not acknowledged:\n", plural(n, "message"))
		messageTable.list(w, agent.Waiting.Unacknowledged)
	}
	if n := len(agent.Waiting.UnfinishedTasks); n > 0 {
		fmt.Fprintf(w, "\n%s unfinished:\n", plural(n, "task"))
		taskTable.list(w, agent.Waiting.UnfinishedTasks)
	}
}
