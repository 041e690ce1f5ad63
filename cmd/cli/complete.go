package cli

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"skillrouter/comms"
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
	"skillrouter/router/client"
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
	agents := s.suggest(agentNames)
	flags := map[string]cobra.CompletionFunc{
		"agent": agents, "from": agents, "successor": agents,
		"toolsets": toolsetNames, "mcp-toolsets": toolsetNames,
		"good": s.suggest(knowledgeIDs), "bad": s.suggest(knowledgeIDs), "resume": s.suggest(runIDs), "accept": s.suggest(incidentIDs), "undo": s.suggest(incidentIDs),
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
	agents, lessons, knowledge := s.suggest(agentNames), s.suggest(lessonNumbers), s.suggest(knowledgeIDs)
	return map[string]cobra.CompletionFunc{
		"status": agents, "stop": agents, "signal": agents, "memory": agents,
		"episodes add": among(episode.EventTypes()), "episodes EPISODE": s.suggest(episodeNumbers),
		"lessons LESSON": lessons, "rules RULE": s.suggest(ruleIDs), "check RULE": s.suggest(ruleIDs), "check outcome": s.suggest(checkIDs),
		"knowledge ID": knowledge, "used": knowledge, "patterns PATTERN": s.suggest(patternNumbers),
		"procedures NAME": s.suggest(procedureNames), "procedures RUN_ID": s.suggest(runIDs),
		"facts KEY": s.suggest(factKeys), "reminders NUMBER": s.suggest(reminderNumbers), "tasks TASK": s.suggest(taskNumbers),
		"proposals ID": s.suggest(proposalIDs), "escalations ID": s.suggest(escalationIDs), "gaps GAP": s.suggest(gapIDs),
		"sessions ID": s.suggest(sessionIDs), "recon FINDING": s.suggest(findingIDs), "token TOKEN": s.suggest(tokenIDs),
	}
}

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

// suggestions are rows as suggestions.
func suggestions[Row any](rows []Row, err error, name func(row *Row) (id string, about []string)) (names []cobra.Completion, _ error) {
	for i := range rows {
		id, said := name(&rows[i])
		names = append(names, cobra.CompletionWithDesc(id, about(said...)))
	}
	return names, err
}

func number(n int64) string { return strconv.FormatInt(n, 10) }

func agentNames(ctx context.Context, c *client.Client) ([]cobra.Completion, error) {
	rows, err := client.Send(ctx, c, comms.PresenceService.Agents, operational.AgentFilter{Limit: completeLimit})
	return suggestions(rows, err, func(a *operational.Agent) (string, []string) { return a.ID, []string{string(a.State), a.CurrentTask} })
}

func taskNumbers(ctx context.Context, c *client.Client) ([]cobra.Completion, error) {
	rows, err := client.Send(ctx, c, operational.TaskService.List, operational.TaskFilter{Limit: completeLimit})
	return suggestions(rows, err, func(t *operational.Task) (string, []string) {
		return number(t.Number), []string{string(t.Status), t.Title}
	})
}

func procedureNames(ctx context.Context, c *client.Client) ([]cobra.Completion, error) {
	page, err := client.Send(ctx, c, procedure.Service.List, procedure.Filter{Limit: completeLimit})
	return suggestions(page.Procedures, err, func(p *procedure.Procedure) (string, []string) { return p.Name, []string{p.Description} })
}

func runIDs(ctx context.Context, c *client.Client) ([]cobra.Completion, error) {
	rows, err := client.Send(ctx, c, procedure.Service.Runs, procedure.RunFilter{Limit: completeLimit})
	return suggestions(rows, err, func(r *procedure.Run) (string, []string) {
		return shortID(r.ID), []string{r.Procedure, string(r.Status)}
	})
}

func knowledgeIDs(ctx context.Context, c *client.Client) ([]cobra.Completion, error) {
	page, err := client.Send(ctx, c, knowledge.Lister.List, knowledge.Filter{Limit: completeLimit})
	return suggestions(page.Results, err, func(k *knowledge.Knowledge) (string, []string) { return shortID(k.ID), []string{k.Title} })
}

func lessonNumbers(ctx context.Context, c *client.Client) ([]cobra.Completion, error) {
	page, err := client.Send(ctx, c, lesson.Service.List, lesson.Filter{Limit: completeLimit, Statuses: lesson.Statuses()})
	return suggestions(page.Lessons, err, func(l *lesson.Lesson) (string, []string) { return number(l.Number), []string{l.Title} })
}

func ruleIDs(ctx context.Context, c *client.Client) ([]cobra.Completion, error) {
	page, err := client.Send(ctx, c, guard.Service.Rules, guard.RuleFilter{Limit: completeLimit})
	return suggestions(page.Rules, err, func(r *guard.Rule) (string, []string) { return shortID(r.ID), []string{r.Title} })
}

func checkIDs(ctx context.Context, c *client.Client) ([]cobra.Completion, error) {
	page, err := client.Send(ctx, c, guard.Service.Ledger, lesson.LedgerFilter{Limit: completeLimit})
	return suggestions(page.Checks, err, func(r *lesson.CheckRecord) (string, []string) {
		return shortID(r.ID), []string{string(r.Decision), r.Action}
	})
}

func patternNumbers(ctx context.Context, c *client.Client) ([]cobra.Completion, error) {
	rows, err := client.Send(ctx, c, lesson.PatternService.List, lesson.PatternFilter{Limit: completeLimit})
	return suggestions(rows, err, func(p *lesson.Pattern) (string, []string) { return number(p.Number), []string{p.Name} })
}

func episodeNumbers(ctx context.Context, c *client.Client) ([]cobra.Completion, error) {
	rows, err := client.Send(ctx, c, episode.Service.Recent, episode.Filter{Limit: completeLimit})
	return suggestions(rows, err, func(e *episode.Episode) (string, []string) { return number(e.Number), []string{e.EventType, e.Title} })
}

func factKeys(ctx context.Context, c *client.Client) ([]cobra.Completion, error) {
	page, err := client.Send(ctx, c, fact.Service.Search, fact.Query{Limit: completeLimit})
	return suggestions(page.Facts, err, func(f *fact.Fact) (string, []string) { return f.Key, []string{f.Category} })
}

func reminderNumbers(ctx context.Context, c *client.Client) ([]cobra.Completion, error) {
	rows, err := client.Send(ctx, c, operational.ReminderService.List, operational.ReminderFilter{Open: true, Limit: completeLimit})
	return suggestions(rows, err, func(r *operational.Reminder) (string, []string) { return number(r.Number), []string{r.Task} })
}

func proposalIDs(ctx context.Context, c *client.Client) ([]cobra.Completion, error) {
	rows, err := client.Send(ctx, c, history.ConsolidationService.Proposals, history.ProposalFilter{Limit: completeLimit})
	return suggestions(rows, err, func(p *history.Proposal) (string, []string) {
		return shortID(p.ID), []string{string(p.Status), p.Says()}
	})
}

func escalationIDs(ctx context.Context, c *client.Client) ([]cobra.Completion, error) {
	rows, err := client.Send(ctx, c, operational.EscalationService.List, operational.EscalationFilter{Limit: completeLimit})
	return suggestions(rows, err, func(e *operational.Escalation) (string, []string) {
		return shortID(e.ID), []string{string(e.Status), e.Title}
	})
}

func gapIDs(ctx context.Context, c *client.Client) ([]cobra.Completion, error) {
	page, err := client.Send(ctx, c, verdict.Service.Gaps, verdict.GapQuery{Limit: completeLimit})
	return suggestions(page.Gaps, err, func(g *verdict.Gap) (string, []string) { return shortID(g.ID), []string{g.Question} })
}

func sessionIDs(ctx context.Context, c *client.Client) ([]cobra.Completion, error) {
	rows, err := client.Send(ctx, c, session.Service.List, operational.SessionFilter{Limit: completeLimit})
	return suggestions(rows, err, func(x *operational.Session) (string, []string) { return x.ID, []string{x.AgentID, x.Goal} })
}

func findingIDs(ctx context.Context, c *client.Client) ([]cobra.Completion, error) {
	rows, err := client.Send(ctx, c, operational.ReconService.Findings, operational.FindingFilter{Limit: completeLimit})
	return suggestions(rows, err, func(f *operational.Finding) (string, []string) { return f.ID, []string{f.Title} })
}

func tokenIDs(ctx context.Context, c *client.Client) ([]cobra.Completion, error) {
	rows, err := client.Ask(ctx, c, operational.TokenService.List)
	return suggestions(rows, err, func(t *operational.Token) (string, []string) { return t.ID, []string{t.AgentID, t.Note} })
}

func incidentIDs(ctx context.Context, c *client.Client) ([]cobra.Completion, error) {
	page, err := client.Send(ctx, c, history.Service.List, history.Filter{Limit: completeLimit})
	return suggestions(page.Incidents, err, func(i *history.Incident) (string, []string) { return shortID(i.ID), []string{i.Program, i.Example} })
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
