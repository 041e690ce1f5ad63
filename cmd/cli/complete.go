package cli

import (
	"context"
	"reflect"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"skillrouter/comms"
	"skillrouter/internal/operation"
	"skillrouter/internal/safetext"
	"skillrouter/learning"
	"skillrouter/learning/episode"
	"skillrouter/learning/fact"
	"skillrouter/learning/guard"
	"skillrouter/learning/history"
	"skillrouter/learning/knowledge"
	"skillrouter/learning/lesson"
	"skillrouter/learning/procedure"
	"skillrouter/learning/verdict"
	"skillrouter/operational"
	"skillrouter/router/mcpserver"
	"skillrouter/router/session"
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
	agents := s.suggest(theAgents)
	flags := map[string]cobra.CompletionFunc{
		"agent": agents, "from": agents, "successor": agents,
		"toolsets": toolsetNames, "mcp-toolsets": toolsetNames,
		"good": s.suggest(theKnowledge), "bad": s.suggest(theKnowledge), "resume": s.suggest(theRuns), "accept": s.suggest(theIncidents), "undo": s.suggest(theIncidents),
	}
	named := s.named()
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		for name, function := range flags {
			if cmd.Flags().Lookup(name) != nil {
				_ = cmd.RegisterFlagCompletionFunc(name, function) // fails for a flag that has its own
			}
		}
		if words := placeholders(cmd); len(words) > 0 && cmd.ValidArgsFunction == nil {
			path := strings.TrimPrefix(cmd.CommandPath(), "skillrouter ")
			group, _, _ := strings.Cut(path, " ")
			for _, place := range []string{path, group + " " + strings.Trim(words[0], "[]().")} {
				if function := named[place]; function != nil {
					cmd.ValidArgsFunction = inPlaces(function, secondWords[path])
					break
				}
			}
		}
		for _, below := range cmd.Commands() {
			visit(below)
		}
	}
	visit(root)
}

// secondWords are what the second word of a command can be.
var secondWords = map[string][]string{
	"check outcome":    {string(lesson.OutcomeHeeded), string(lesson.OutcomeOverridden)},
	"lessons apply":    safetext.Strings(learning.Results()),
	"lessons validate": safetext.Strings(lesson.ValidationTypes()),
}

// named completes what a command's first word names: by the whole command, or by the first
// word of it and the placeholder in its line of use.
func (s *shell) named() map[string]cobra.CompletionFunc {
	agents, lessons, knowledge := s.suggest(theAgents), s.suggest(theLessons), s.suggest(theKnowledge)
	rules := s.suggest(thing{guard.Service.Rules, "short title"})
	return map[string]cobra.CompletionFunc{
		"status": agents, "stop": agents, "signal": agents, "memory": agents,
		"lessons LESSON": lessons, "rules RULE": rules, "check RULE": rules, "knowledge ID": knowledge, "used": knowledge,
		"episodes add":      among(episode.EventTypes()),
		"episodes EPISODE":  s.suggest(thing{episode.Service.Recent, "number event_type title"}),
		"check outcome":     s.suggest(thing{guard.Service.Ledger, "short decision proposed_action"}),
		"patterns PATTERN":  s.suggest(thing{lesson.PatternService.List, "number pattern_name"}),
		"procedures NAME":   s.suggest(thing{procedure.Service.List, "name description"}),
		"procedures RUN_ID": s.suggest(theRuns),
		"facts KEY":         s.suggest(thing{fact.Service.Search, "key category"}),
		"reminders NUMBER":  s.suggest(thing{operational.ReminderService.List, "id task"}),
		"tasks TASK":        s.suggest(thing{operational.TaskService.List, "number status title"}),
		"proposals ID":      s.suggest(thing{history.ConsolidationService.Proposals, "short status says"}),
		"escalations ID":    s.suggest(thing{operational.EscalationService.List, "short status title"}),
		"gaps GAP":          s.suggest(thing{verdict.Service.Gaps, "short question"}),
		"sessions ID":       s.suggest(thing{session.Service.List, "id agent_id goal"}),
		"recon FINDING":     s.suggest(thing{operational.ReconService.Findings, "id title"}),
		"token TOKEN":       s.suggest(thing{operational.TokenService.List, "id agent_id note"}),
	}
}

// thing is what words can name: the operation that lists them, and the members that name one and say what it is.
type thing struct {
	list    any
	members string
}

var (
	theAgents    = thing{comms.PresenceService.Agents, "agent_id state current_task"}
	theLessons   = thing{lesson.Service.List, "number title"}
	theKnowledge = thing{knowledge.Lister.List, "short title"}
	theRuns      = thing{procedure.Service.Runs, "short procedure status"}
	theIncidents = thing{history.Service.List, "short program example"}
)

// inPlaces completes the first argument with what a function finds and the second to one of
// some words, and suggests nothing for others.
func inPlaces(function cobra.CompletionFunc, second []string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		switch len(args) {
		case 0:
			return function(cmd, args, begun)
		case 1:
			return among(second)(cmd, args, begun)
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
}

// suggest asks the router for what there is.
func (s *shell) suggest(of thing) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, begun string) (fitting []cobra.Completion, _ cobra.ShellCompDirective) {
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
