package cli

import (
	"context"
	"reflect"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/skillrouter/skillrouter/comms"
	"github.com/skillrouter/skillrouter/internal/operation"
	"github.com/skillrouter/skillrouter/learning/history"
	"github.com/skillrouter/skillrouter/learning/knowledge"
	"github.com/skillrouter/skillrouter/learning/procedure"
	"github.com/skillrouter/skillrouter/router/mcpserver"
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
	agents := s.suggest(theAgents, nil)
	flags := map[string]cobra.CompletionFunc{
		"agent": agents, "from": agents, "successor": agents,
		"toolsets": toolsetNames, "mcp-toolsets": toolsetNames,
		"good": s.suggest(theKnowledge, nil), "bad": s.suggest(theKnowledge, nil), "resume": s.suggest(theRuns, nil), "accept": s.suggest(theIncidents, nil), "undo": s.suggest(theIncidents, nil),
	}
	for name, of := range map[string]thing{"status": theAgents, "stop": theAgents, "signal": theAgents, "memory": theAgents, "used": theKnowledge} {
		cmd, _, _ := root.Find([]string{name})
		cmd.ValidArgsFunction = s.suggest(of, nil)
	}
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		for name, function := range flags {
			if cmd.Flags().Lookup(name) != nil {
				_ = cmd.RegisterFlagCompletionFunc(name, function) // fails for a flag that has its own
			}
		}
		for _, below := range cmd.Commands() {
			visit(below)
		}
	}
	visit(root)
}

// thing is what words can name: the operation that lists them, and the members that name one and say what it is.
type thing struct {
	list    any
	members string
}

var (
	theAgents    = thing{comms.PresenceService.Agents, "agent_id state current_task"}
	theKnowledge = thing{knowledge.Lister.List, "short title"}
	theRuns      = thing{procedure.Service.Runs, "short procedure status"}
	theIncidents = thing{history.Service.List, "short program example"}
)

// firstColumns are the members in the first columns of a table.
func firstColumns(rows string) string {
	const named = 3
	var names []string
	for _, column := range strings.Fields(rows) {
		names = append(names, strings.FieldsFunc(column, func(r rune) bool { return strings.ContainsRune("=|+", r) })[0])
	}
	return strings.Join(names[:min(named, len(names))], " ")
}

// suggest completes the first argument with what the router has, the second to one of some words, and others to nothing.
func (s *shell) suggest(of thing, second []string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) (fitting []cobra.Completion, _ cobra.ShellCompDirective) {
		if len(args) > 1 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		if len(args) == 1 {
			return among(second)(cmd, args, begun)
		}
		c, err := s.client()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), completeTime)
		defer cancel()
		op := operation.Find(of.list)
		types, returns := op.Types()
		var takes []any
		for _, t := range types {
			filter := reflect.New(t)
			for _, f := range op.Fields([]any{filter.Interface()}) {
				if f.Name == "limit" {
					f.Value.SetInt(completeLimit)
				}
			}
			takes = append(takes, filter.Elem().Interface())
		}
		answer := reflect.New(returns)
		if err := c.Do(ctx, op, answer.Interface(), takes...); err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		rows, members := pageOf(answer.Elem()), strings.Fields(of.members)
		for i := range rows.Len() {
			var said []string
			for _, name := range members {
				said = append(said, columnText(rows.Index(i), name))
			}
			if strings.HasPrefix(said[0], begun) {
				fitting = append(fitting, cobra.CompletionWithDesc(said[0], about(said[1:]...)))
			}
		}
		return fitting, cobra.ShellCompDirectiveNoFileComp
	}
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
