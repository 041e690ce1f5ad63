package cli

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"skillrouter/learning/procedure"
	"skillrouter/operational"
	"skillrouter/router/client"
	"skillrouter/router/mcpserver"
)

// Bounds of what the router is asked when somebody presses the tab key.
const (
	// completeTime is how long that may wait; then there are no suggestions.
	completeTime = time.Second
	// completeLimit is how many things are suggested: more is no choice.
	completeLimit = 100
)

// completes tells whether the program was called by a shell's completion.
func completes(args []string) bool { return len(args) > 0 && strings.HasPrefix(args[0], "__complete") }

// completions has flags and arguments that name things completed with what
// there is. It starts no router, and suggests nothing when none answers.
func (s *shell) completions(root *cobra.Command) {
	agents, tasks, procedures := s.suggest(agentNames), s.suggest(taskNumbers), s.suggest(procedureNames)
	flags := map[string]cobra.CompletionFunc{
		"agent": agents, "from": agents, "successor": agents,
		"toolsets": toolsetNames, "mcp-toolsets": toolsetNames,
	}
	first := map[string]cobra.CompletionFunc{
		"status": agents, "stop": agents, "signal": agents, "memory": agents,
		"procedures show": procedures, "procedures delete": procedures, "procedures run": procedures,
	}
	for _, verb := range []string{"show", "claim", "progress", "block", "unblock", "complete", "fail", "release", "cancel", "reassign"} {
		first["tasks "+verb] = tasks
	}
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		for name, function := range flags {
			if cmd.Flags().Lookup(name) != nil {
				_ = cmd.RegisterFlagCompletionFunc(name, function) // fails only for a flag that is not there
			}
		}
		if function := first[strings.TrimPrefix(cmd.CommandPath(), "skillrouter ")]; function != nil {
			cmd.ValidArgsFunction = onlyFirst(function)
		}
		for _, below := range cmd.Commands() {
			visit(below)
		}
	}
	visit(root)
}

// onlyFirst completes the first argument, and suggests nothing for others.
func onlyFirst(function cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return function(cmd, args, begun)
	}
}

// suggest asks the router for what there is.
func (s *shell) suggest(ask func(ctx context.Context, c *client.Client) ([]cobra.Completion, error)) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, begun string) (fitting []cobra.Completion, _ cobra.ShellCompDirective) {
		c, err := s.client()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), completeTime)
		defer cancel()
		all, err := ask(ctx, c)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		for _, one := range all {
			if strings.HasPrefix(one, begun) {
				fitting = append(fitting, one)
			}
		}
		return fitting, cobra.ShellCompDirectiveNoFileComp
	}
}

func agentNames(ctx context.Context, c *client.Client) (names []cobra.Completion, _ error) {
	agents, err := c.Presence.Agents(ctx, operational.AgentFilter{Limit: completeLimit})
	for _, a := range agents {
		names = append(names, cobra.CompletionWithDesc(a.ID, about(string(a.State), a.CurrentTask)))
	}
	return names, err
}

func taskNumbers(ctx context.Context, c *client.Client) (names []cobra.Completion, _ error) {
	tasks, err := c.Tasks.List(ctx, operational.TaskFilter{Limit: completeLimit})
	for _, t := range tasks {
		names = append(names, cobra.CompletionWithDesc(strconv.FormatInt(t.Number, 10), about(string(t.Status), t.Title)))
	}
	return names, err
}

func procedureNames(ctx context.Context, c *client.Client) (names []cobra.Completion, _ error) {
	page, err := c.Procedures.List(ctx, procedure.Filter{Limit: completeLimit})
	for _, p := range page.Procedures {
		names = append(names, cobra.CompletionWithDesc(p.Name, about(p.Description)))
	}
	return names, err
}

// about describes a suggestion on one line: what agents wrote reaches a terminal by it.
func about(parts ...string) string {
	var said []string
	for _, part := range parts {
		if part != "" {
			said = append(said, cell(part))
		}
	}
	return strings.Join(said, ", ")
}

// toolsetNames completes a list that is separated by commas.
func toolsetNames(_ *cobra.Command, _ []string, begun string) (names []cobra.Completion, _ cobra.ShellCompDirective) {
	before := ""
	if at := strings.LastIndex(begun, ","); at >= 0 {
		before = begun[:at+1]
	}
	for _, name := range append(mcpserver.ToolsetNames(), "all") {
		if strings.HasPrefix(before+name, begun) && !strings.Contains(","+before, ","+name+",") {
			names = append(names, before+name)
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}
