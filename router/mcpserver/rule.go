package mcpserver

import (
	"context"
	"fmt"
	"strings"
	"time"

	"skillrouter/learning"
)

type listRules struct {
	Source   string            `json:"source"`
	Domain   string            `json:"domain"`
	Severity learning.Severity `json:"severity"`
	Demoted  *bool             `json:"demoted"`
	Blocks   *bool             `json:"blocks"`
	Cursor   string            `json:"cursor"`
	Limit    int               `json:"limit"`
}

type restoreRule struct {
	RuleID string `json:"rule_id"`
	Notes  string `json:"notes"`
}

type listChecks struct {
	AgentID  string            `json:"agent_id"`
	Project  string            `json:"project"`
	RuleID   string            `json:"rule_id"`
	Decision learning.Decision `json:"decision"`
	Outcome  learning.Outcome  `json:"outcome"`
	Cursor   string            `json:"cursor"`
	Limit    int               `json:"limit"`
}

// rule is what a model needs of a guard rule.
type rule struct {
	ID           string            `json:"rule_id"`
	Title        string            `json:"title"`
	WhyBad       string            `json:"why_bad"`
	Alternatives []string          `json:"alternatives,omitempty"`
	Severity     learning.Severity `json:"severity"`
	Domain       string            `json:"domain"`
	Blocks       bool              `json:"blocks"`
	Demoted      bool              `json:"demoted"`
	Confidence   float64           `json:"confidence"`
	Precision    float64           `json:"precision"`
	Triggered    int64             `json:"times_triggered"`
	Heeded       int64             `json:"heeded"`
	Overridden   int64             `json:"overridden"`
}

type rules struct {
	Rules  []rule `json:"rules"`
	Total  int    `json:"total"`
	Next   string `json:"next,omitempty"`
	Notice string `json:"notice,omitempty"`
}

type oneRule struct {
	Rule   rule   `json:"rule"`
	Notice string `json:"notice"`
}

// check is what a model needs of a line of the guard's ledger.
type check struct {
	ID       string            `json:"check_id"`
	At       time.Time         `json:"at"`
	AgentID  string            `json:"agent_id,omitempty"`
	Action   string            `json:"proposed_action"`
	Decision learning.Decision `json:"decision"`
	Outcome  learning.Outcome  `json:"outcome,omitempty"`
}

type checks struct {
	Checks []check `json:"checks"`
	Next   string  `json:"next,omitempty"`
	Notice string  `json:"notice,omitempty"`
}

// addRuleTools offers the guard's rules and its ledger.
func (s *Server) addRuleTools() {
	add(s, tool{
		name: "list_rules", title: "Guard rules", set: ToolsetLessons, effect: reads,
		description: "What check_before_action holds actions to, and how often each rule was right.",
		input: arguments(
			text("source", "lesson, pattern or builtin"),
			text("domain", ""),
			oneOf("severity", "", learning.Severities()...),
			boolean("demoted", "Rules that only warn because they were wrong too often"),
			boolean("blocks", ""),
			text("cursor", "The next of the page before"),
			integer("limit", "Default 50", 1, learning.MaxLimit),
		),
		output: holds("rules", "total"),
	}, s.listRules)
	add(s, tool{
		name: "restore_rule", title: "Restore a rule", set: ToolsetLessons, effect: ensure,
		description: "Let a demoted rule block again.",
		input:       arguments(required(text("rule_id", "")), text("notes", "Why")), output: holds("rule"),
	}, s.restoreRule)
	add(s, tool{
		name: "list_checks", title: "The guard's ledger", set: ToolsetLessons, effect: reads,
		description: "Which actions were checked, what was decided, and what came of it, the latest first.",
		input: arguments(
			text("agent_id", ""),
			text("project", ""),
			text("rule_id", "That this rule matched"),
			oneOf("decision", "", learning.DecisionAllow, learning.DecisionWarn, learning.DecisionBlock),
			oneOf("outcome", "", learning.Outcomes()...),
			text("cursor", "The next of the page before"),
			integer("limit", "Default 50", 1, learning.MaxLimit),
		),
		output: holds("checks"),
	}, s.listChecks)
}

func (s *Server) listRules(ctx context.Context, in listRules) (reply[rules], error) {
	page, err := s.services.Guard.Rules(ctx, learning.RuleFilter{
		Source: in.Source, Domain: in.Domain, Severity: in.Severity, Demoted: in.Demoted, Blocks: in.Blocks, Cursor: in.Cursor, Limit: in.Limit,
	})
	if err != nil {
		return reply[rules]{}, err
	}
	out := rules{Rules: []rule{}, Total: page.Total, Next: page.Next}
	for _, r := range page.Rules {
		out.Rules = append(out.Rules, shownRule(r))
	}
	if len(out.Rules) == 0 {
		return reply[rules]{out, "No rule fits."}, nil
	}
	out.Notice = notice
	f := newFence("%s of %d.", count(len(out.Rules), "rule", "rules"), out.Total)
	f.addRules(out.Rules)
	return reply[rules]{out, f.String()}, nil
}

func (s *Server) restoreRule(ctx context.Context, in restoreRule) (reply[oneRule], error) {
	restored, err := s.services.Guard.RestoreRule(ctx, in.RuleID, learning.RestorationDraft{By: s.actor(ctx, ""), Notes: in.Notes})
	if err != nil {
		return reply[oneRule]{}, err
	}
	shown := []rule{shownRule(restored)}
	f := newFence("It is restored.")
	f.addRules(shown)
	return reply[oneRule]{oneRule{shown[0], notice}, f.String()}, nil
}

func (s *Server) listChecks(ctx context.Context, in listChecks) (reply[checks], error) {
	page, err := s.services.Guard.Ledger(ctx, learning.LedgerFilter{
		Agent: in.AgentID, Project: in.Project, RuleID: in.RuleID, Decision: in.Decision, Outcome: in.Outcome, Cursor: in.Cursor, Limit: in.Limit,
	})
	if err != nil {
		return reply[checks]{}, err
	}
	out := checks{Checks: []check{}, Next: page.Next}
	for _, c := range page.Checks {
		if c.Withheld {
			c.Action = "(another agent's, shown to that agent and captains)"
		}
		out.Checks = append(out.Checks, check{ID: c.ID, At: c.At, AgentID: c.Agent, Action: c.Action, Decision: c.Decision, Outcome: c.Outcome})
	}
	if len(out.Checks) == 0 {
		return reply[checks]{out, "No check fits."}, nil
	}
	items := make([][]*string, len(out.Checks))
	for i := range out.Checks {
		items[i] = []*string{&out.Checks[i].Action}
	}
	fitTexts(items)
	out.Notice = notice
	f := newFence("%s, the latest first.", count(len(out.Checks), "check", "checks"))
	f.explain()
	for i, c := range out.Checks {
		label := fmt.Sprintf("%d. %s at %s by %s", i+1, c.Decision, c.At.UTC().Format(time.RFC3339), author(c.AgentID))
		if c.Outcome != "" {
			label += ", " + string(c.Outcome)
		}
		f.add(label, attributes("check", c.ID), c.Action)
	}
	return reply[checks]{out, f.String()}, nil
}

func shownRule(r learning.Rule) rule {
	return rule{
		ID: r.ID, Title: r.Title, WhyBad: r.WhyBad, Alternatives: append([]string{}, r.Alternatives...), Severity: r.Severity, Domain: r.Domain, Blocks: r.Blocks, Demoted: r.Demoted,
		Confidence: r.Confidence, Precision: r.Precision, Triggered: r.TimesTriggered, Heeded: r.Heeded, Overridden: r.Overridden,
	}
}

// addRules shortens the rules to what an answer may hold and appends them.
func (f *fence) addRules(list []rule) {
	items := make([][]*string, len(list))
	for i := range list {
		items[i] = []*string{&list[i].Title, &list[i].WhyBad}
		for k := range list[i].Alternatives {
			items[i] = append(items[i], &list[i].Alternatives[k])
		}
	}
	left := fitTexts(items)
	f.explain()
	for i, r := range list {
		does := "warns"
		switch {
		case r.Demoted:
			does = "was demoted, only warns"
		case r.Blocks:
			does = "blocks"
		}
		f.add(fmt.Sprintf("%d. %s, %s, confidence %.2f, precision %.2f, fitted %d×, heeded %d×, overridden %d×",
			i+1, r.Severity, does, r.Confidence, r.Precision, r.Triggered, r.Heeded, r.Overridden),
			attributes("rule", r.ID, "domain", r.Domain), r.Title, part("Why", r.WhyBad), part("Instead", strings.Join(r.Alternatives, "; ")), cutNote(left[i]))
	}
}
