package mcpserver

import (
	"context"
	"fmt"
	"strings"

	"skillrouter/router"
)

type buildContext struct {
	Task             string `json:"task"`
	Budget           int    `json:"budget"`
	Project          string `json:"project"`
	Persona          string `json:"persona"`
	IncludeUntrusted bool   `json:"include_untrusted"`
}

// built is the context, beside the notice.
type built struct {
	router.Context
	Notice string `json:"notice,omitempty"`
}

// addContextTools offers the context of a task, which spans the memories.
func (s *Server) addContextTools() {
	add(s, tool{
		name: "build_context", title: "Build the context of a task", set: ToolsetOperations, former: formerContext, effect: reads,
		description: "All that is known for a task, from every memory, within a budget of tokens: rules first, then lessons, knowledge, facts, procedures, episodes, open tasks.",
		input: arguments(
			required(text("task", "What is to be done, in plain words")),
			required(integer("budget", "Tokens", router.MinContextBudget, router.MaxContextBudget)),
			text("project", ""),
			text("persona", "Whose memory; default \"default\""),
			boolean("include_untrusted", "Also what was imported, marked so"),
		),
		output: holds("text", "tokens", "items", "left_out"),
	}, s.buildContext)
}

// buildContext answers the text as it was built: it is fenced already, and within the budget.
func (s *Server) buildContext(ctx context.Context, in buildContext) (reply[built], error) {
	c, err := s.services.Context.Build(ctx, router.ContextRequest{
		Task: in.Task, Budget: in.Budget, Persona: in.Persona, Project: in.Project, AgentID: s.actor(ctx, ""), IncludeUntrusted: in.IncludeUntrusted,
	})
	if err != nil {
		return reply[built]{}, err
	}
	if c.Text == "" {
		return reply[built]{built{Context: c}, strings.TrimSpace("Nothing that is known fits this task. " + leftOutSaid(c))}, nil
	}
	return reply[built]{built{c, notice}, c.Text}, nil
}

// leftOutSaid says what was left out that the caller could ask for.
func leftOutSaid(c router.Context) string {
	budget, untrusted := 0, 0
	for _, l := range c.LeftOut {
		switch l.Reason {
		case "budget":
			budget++
		case "untrusted":
			untrusted++
		}
	}
	var said []string
	if budget > 0 {
		said = append(said, fmt.Sprintf("%s did not fit into the budget.", count(budget, "item", "items")))
	}
	if untrusted > 0 {
		said = append(said, fmt.Sprintf("%s came from elsewhere and can be asked for with include_untrusted.", count(untrusted, "item", "items")))
	}
	return strings.Join(said, " ")
}
