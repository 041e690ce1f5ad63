package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"skillrouter/operational"
	"skillrouter/router/client"
)

func (s *shell) agentsCommand() *cobra.Command {
	var filter operational.AgentFilter
	return asks(s, command{
		use: "agents [--state STATE] [--project NAME]", short: "List agents, the latest seen first",
		flags: options{
			option("state", (*string)(&filter.State), "only those in this state: starting, online, stale, offline"),
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
