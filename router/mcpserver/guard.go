package mcpserver

import (
	"context"
	"fmt"
	"strings"

	"skillrouter/learning/guard"
	"skillrouter/learning/guard/rule"
)

// checkedAction is what a model needs of a check.
type checkedAction struct {
	Decision     rule.Decision `json:"decision"`
	Blocked      bool          `json:"blocked"`
	Matches      []rule.Match  `json:"matching_patterns"`
	Alternatives []string      `json:"alternatives"`
	Warnings     []string      `json:"warnings"`
	CheckID      string        `json:"check_id"`
	ApprovalID   string        `json:"approval_id,omitempty"`
}

func (s *Server) addGuardTools() {
	add(s, tool{
		name: "check_before_action", title: "Check before an action", effect: reads, holds: "decision",
		description: "Whether the team learned never to do this. Ask before a command that could do harm.",
	}, described[rule.Action]("proposed_action", "context", "domain", "tool", "args", "folder"), then(s.check, shownCheckedAction))
	add(s, tool{
		name: "check_outcome", title: "After a checked action", set: ToolsetLessons, effect: ensure, holds: "check_id outcome rules",
		description: "Say whether you heeded a check or acted all the same, and how that went: rules that are wrong lose their force by it.",
	}, described[guard.OutcomeDraft]("check_id!", "outcome!", "result", "notes"), then(s.services.Guard.Outcome, func(settled guard.Settled) (guard.Settled, string) {
		if settled.Duplicate {
			return settled, "This was said already, and did not count again."
		}
		var said strings.Builder
		fmt.Fprintf(&said, "The check is settled: %s.", settled.Outcome)
		for _, r := range settled.Rules {
			fmt.Fprintf(&said, "\nRule %q: confidence %.2f, was %.2f; precision %.2f.", r.RuleID, r.Confidence, r.Previous, r.Precision)
			if r.Demoted {
				said.WriteString(" It only warns from now on.")
			}
		}
		return settled, said.String()
	}))
	s.addRuleTools()
}

// check checks an action, and shows the person before the client what waits for an approval.
func (s *Server) check(ctx context.Context, a rule.Action) (guard.Checked, error) {
	checked, err := s.services.Guard.Check(ctx, a)
	if err == nil {
		s.showApproval(ctx, a, checked)
	}
	return checked, err
}

func shownCheckedAction(checked guard.Checked) (checkedAction, string) {
	out := checkedAction{
		Decision: checked.Decision, Blocked: checked.Blocked, Matches: checked.Matches, Alternatives: checked.Alternatives,
		Warnings: checked.Warnings, CheckID: checked.CheckID, ApprovalID: checked.ApprovalID,
	}
	said := "Nothing is known against it."
	switch checked.Decision {
	case rule.DecisionBlock:
		said = "BLOCKED: do not do this."
	case rule.DecisionWarn:
		said = "Be warned before you do this."
	}
	if len(checked.Matches) == 0 {
		for _, w := range checked.Warnings {
			said += "\nNote: " + visible(w)
		}
		return out, said
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
	return out, f.String()
}
