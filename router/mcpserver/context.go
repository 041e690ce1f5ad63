package mcpserver

import (
	"fmt"
	"strings"

	"skillrouter/router/contexts"
)

// built is the context, beside the notice.
type built struct {
	contexts.Context
	Notice string `json:"notice,omitempty"`
}

// addContextTools offers the context of a task, which spans the memories. The
// text is answered as it was built: it is fenced already, and within the budget.
func (s *Server) addContextTools() {
	add(s, tool{
		name: "build_context", title: "Build the context of a task", set: ToolsetOperations, former: formerContext, effect: reads, holds: "text tokens items left_out",
		description: "All that is known for a task, from every memory, within a budget of tokens: rules first, then lessons, knowledge, facts, procedures, episodes, open tasks.",
	}, func(p *params, r *contexts.Request) {
		p.must("task", &r.Task, "What is to be done, in plain words; with start empty")
		p.may("start", &r.Start, "What a session begins with, whatever its task")
		p.must("budget", &r.Budget, "Tokens", within(contexts.MinBudget, contexts.MaxBudget))
		p.belongsHere(&r.Project)
		p.may("persona", &r.Persona, whoseMemory)
		p.may("include_untrusted", &r.IncludeUntrusted, "Also what was imported, marked so")
		p.actor(&r.AgentID)
	}, then(s.services.Context.Build, func(c contexts.Context) (built, string) {
		if c.Text == "" {
			return built{Context: c}, strings.TrimSpace("Nothing that is known fits this task. " + leftOutSaid(c))
		}
		return built{c, notice}, c.Text
	}))
}

// leftOutSaid says what was left out that the caller could ask for.
func leftOutSaid(c contexts.Context) string {
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
