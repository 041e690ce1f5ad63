package mcpserver

import (
	"context"
	"fmt"
	"strings"

	"skillrouter/learning"
)

type checkBeforeAction struct {
	Action  string         `json:"proposed_action"`
	Context string         `json:"context"`
	Domain  string         `json:"domain"`
	Tool    string         `json:"tool"`
	Args    map[string]any `json:"args"`
}

// checkedAction is what a model needs of a check.
type checkedAction struct {
	Decision     learning.Decision `json:"decision"`
	Blocked      bool              `json:"blocked"`
	Matches      []learning.Match  `json:"matching_patterns"`
	Alternatives []string          `json:"alternatives"`
	Warnings     []string          `json:"warnings"`
	CheckID      string            `json:"check_id"`
}

func (s *Server) addGuardTools() {
	add(s, tool{
		name: "check_before_action", title: "Check before an action", effect: reads,
		description: "Whether the team learned never to do this. Ask before a command that could do harm; do not do what it blocks.",
		input: arguments(
			text("proposed_action", "The command line or SQL"),
			text("context", "Why"),
			text("domain", ""),
			text("tool", "Instead of a command: a tool"),
			anObject("args", "Of the tool"),
		),
		output: holds("decision", "blocked"),
	}, s.checkBeforeAction)
}

func (s *Server) checkBeforeAction(ctx context.Context, in checkBeforeAction) (reply[checkedAction], error) {
	checked, err := s.services.Guard.Check(ctx, learning.Action{
		Command: in.Action, Context: in.Context, Domain: in.Domain, Tool: in.Tool, Args: in.Args, Agent: s.actor(ctx, ""),
	})
	if err != nil {
		return reply[checkedAction]{}, err
	}
	out := checkedAction{
		Decision: checked.Decision, Blocked: checked.Blocked, Matches: checked.Matches, Alternatives: checked.Alternatives,
		Warnings: checked.Warnings, CheckID: checked.CheckID,
	}
	said := "Nothing is known against it."
	switch checked.Decision {
	case learning.DecisionBlock:
		said = "BLOCKED: do not do this."
	case learning.DecisionWarn:
		said = "Be warned before you do this."
	}
	if len(checked.Matches) == 0 {
		for _, w := range checked.Warnings {
			said += "\nNote: " + visible(w)
		}
		return reply[checkedAction]{out, said}, nil
	}
	f := newFence("%s", said)
	f.explain()
	for i, m := range checked.Matches {
		f.add(fmt.Sprintf("%d. %s, %s lane", i+1, m.Severity, m.Lane),
			attributes("rule", m.RuleID), m.Title, part("Why", m.WhyBad), part("What fits", m.Reason), part("Instead", strings.Join(m.Alternatives, "; ")))
	}
	for _, w := range checked.Warnings[min(len(checked.Matches), len(checked.Warnings)):] {
		f.say("Note: %s", visible(w))
	}
	return reply[checkedAction]{out, f.String()}, nil
}
