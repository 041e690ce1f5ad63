package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"skillrouter/operational"
)

func (s *shell) agentsCommand() *cobra.Command {
	var filter operational.AgentFilter
	var state string
	cmd := s.remote(s.command(&cobra.Command{
		Use: "agents [--state STATE] [--project NAME]", Short: "List agents, the latest seen first", Args: cobra.NoArgs,
	}, func(ctx context.Context, _ []string) error {
		c, err := s.client()
		if err != nil {
			return err
		}
		filter.State = operational.AgentState(state)
		agents, err := c.Presence.Agents(ctx, filter)
		if err != nil {
			return err
		}
		return s.print(agents, func(w io.Writer) {
			if len(agents) == 0 {
				fmt.Fprintln(w, "No agents.")
				return
			}
			now := s.now()
			rows := make([][]string, len(agents))
			for i, a := range agents {
				state := string(a.State)
				if a.ShouldStop {
					state += ", to stop"
				}
				rows[i] = []string{a.ID, state, a.Status, progress(a.CurrentTask, a.Progress), a.Role, a.Project, ago(now, a.LastSeen)}
			}
			table(w, []string{"AGENT", "STATE", "STATUS", "TASK", "ROLE", "PROJECT", "SEEN"}, rows)
		})
	}))
	flags := cmd.Flags()
	flags.StringVar(&state, "state", "", "only those in this state: starting, online, stale, offline")
	flags.StringVar(&filter.Status, "status", "", "only those that report this status")
	flags.StringVar(&filter.Project, "project", "", "only those of this project")
	flags.StringVar(&filter.Role, "role", "", "only those with this role")
	flags.StringVar(&filter.Task, "task", "", "only those whose task holds this text")
	flags.IntVar(&filter.Limit, "limit", 0, "how many at most")
	return cmd
}

// progress is a task with how far it has come, if it has.
func progress(task string, percent int) string {
	if task != "" && percent > 0 {
		return fmt.Sprintf("%s (%d%%)", cell(task), percent)
	}
	return task
}
