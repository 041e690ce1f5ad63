package cli

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"skillrouter/comms"
	"skillrouter/operational"
	"skillrouter/router/client"
)

func (s *shell) statusCommand() *cobra.Command {
	return s.remote(s.command(&cobra.Command{
		Use: "status [AGENT]", Short: "Show how the router is, or one agent with what waits for it", Args: cobra.MaximumNArgs(1),
	}, func(ctx context.Context, args []string) error {
		c, err := s.client()
		if err != nil {
			return err
		}
		if len(args) == 0 {
			return s.routerStatus(ctx, c)
		}
		return s.agentStatus(ctx, c, args[0])
	}))
}

func (s *shell) routerStatus(ctx context.Context, c *client.Client) error {
	health, err := c.System.Health(ctx)
	if err != nil {
		return err
	}
	return s.print(health, func(w io.Writer) {
		fmt.Fprintf(w, "The router at %s is %s.\n", c.BaseURL(), clean(health.Status))
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		fmt.Fprintf(t, "Version\t%s\n", cell(health.Version))
		fmt.Fprintf(t, "Up since\t%s\n", ago(s.now(), s.now().Add(-millis(health.UptimeMS))))
		for _, name := range sorted(health.Stats) {
			fmt.Fprintf(t, "%s\t%d\n", cell(name), health.Stats[name])
		}
		t.Flush()
		for _, problem := range health.Problems {
			fmt.Fprintln(w, clean(problem))
		}
	})
}

func (s *shell) agentStatus(ctx context.Context, c *client.Client, id string) error {
	agent, err := c.Presence.Agent(ctx, id)
	if err != nil {
		return err
	}
	waits, err := c.Presence.ShutdownCheck(ctx, id)
	if err != nil {
		return err
	}
	type status struct {
		operational.Agent
		Waiting comms.ShutdownAnswer `json:"waiting"`
	}
	return s.print(status{agent, waits}, func(w io.Writer) {
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		line := func(name, value string) {
			if value != "" {
				fmt.Fprintf(t, "%s\t%s\n", name, cell(value))
			}
		}
		line("Agent", agent.ID)
		line("State", string(agent.State))
		line("Status", agent.Status)
		line("Task", progress(agent.CurrentTask, agent.Progress))
		line("Role", agent.Role)
		line("Model", agent.Model)
		line("Project", agent.ProjectPath)
		if agent.PID != 0 {
			line("Process", fmt.Sprint(agent.PID))
		}
		line("Started", ago(s.now(), agent.StartedAt))
		line("Seen", ago(s.now(), agent.LastSeen))
		if agent.ShouldStop {
			line("To stop", "yes: "+agent.StopReason)
		}
		t.Flush()
		if n := len(waits.Unacknowledged); n > 0 {
			fmt.Fprintf(w, "\n%s not acknowledged:\n", plural(n, "message"))
			s.messageTable(w, waits.Unacknowledged)
		}
		if n := len(waits.UnfinishedTasks); n > 0 {
			fmt.Fprintf(w, "\n%s unfinished:\n", plural(n, "task"))
			s.taskTable(w, waits.UnfinishedTasks)
		}
	})
}
