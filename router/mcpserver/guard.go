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

type checkOutcome struct {
	CheckID string           `json:"check_id"`
	Outcome learning.Outcome `json:"outcome"`
	Result  learning.Result  `json:"result"`
	Notes   string           `json:"notes"`
}

func (s *Server) addGuardTools() {
	add(s, tool{
		name: "check_before_action", title: "Check before an action", effect: reads,
		description: "Whether the team learned never to do this. Ask before a command that could do harm.",
		input: arguments(
			text("proposed_action", "The command line or SQL"),
			text("context", "Why"),
			text("domain", ""),
			text("tool", "Instead of a command"),
			anObject("args", ""),
		),
		output: holds("decision"),
	}, s.checkBeforeAction)
	add(s, tool{
		name: "check_outcome", title: "After a checked action", set: ToolsetLessons, effect: ensure,
		description: "Say whether you heeded a check or acted all the same, and how that went: rules that are wrong lose their force by it.",
		input: arguments(
			required(text("check_id", "Of check_before_action")),
			required(oneOf("outcome", "heeded: the action was not taken", learning.Outcomes()...)),
			oneOf("result", "How it went", learning.Results()...),
			text("notes", ""),
		),
		output: holds("check_id", "outcome", "rules"),
	}, s.checkOutcome)
}

func (s *Server) checkOutcome(ctx context.Context, in checkOutcome) (reply[learning.Settled], error) {
	settled, err := s.services.Guard.Outcome(ctx, learning.OutcomeDraft{
		CheckID: in.CheckID, Outcome: in.Outcome, Result: in.Result, Notes: in.Notes, Agent: s.actor(ctx, ""),
	})
	if err != nil {
		return reply[learning.Settled]{}, err
	}
	if settled.Duplicate {
		return reply[learning.Settled]{settled, "This was said already, and did not count again."}, nil
	}
	var said strings.Builder
	fmt.Fprintf(&said, "The check is settled: %s.", settled.Outcome)
	for _, r := range settled.Rules {
		fmt.Fprintf(&said, "\nRule %q: confidence %.2f, was %.2f; precision %.2f.", r.RuleID, r.Confidence, r.Previous, r.Precision)
		if r.Demoted {
			said.WriteString(" It only warns from now on.")
		}
	}
	return reply[learning.Settled]{settled, said.String()}, nil
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
	if out.CheckID != "" {
		said += " This is check " + out.CheckID + "."
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
