package mcpserver

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/learning/guard"
	"github.com/skillrouter/skillrouter/learning/guard/rule"
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

// guardTools are the check before an action, what is said after it, the guard's rules and its ledger.
func guardTools() []tool {
	return []tool{
		{
			name: "check_before_action", title: "Check before an action", effect: reads, walled: true, holds: "decision",
			description: "Whether the team learned never to do this. Ask before a command that could do harm.",
			does:        (*Server).check, takes: "proposed_action context domain tool args folder",
		},
		{name: "check_outcome", title: "After a checked action", effect: ensure, holds: "check_id outcome rules", does: guard.Service.Outcome, takes: "check_id! outcome! result notes"},
		{
			name: "list_rules", title: "Guard rules", effect: reads, holds: "rules total",
			does: guard.Service.Rules, takes: "source domain severity demoted blocks cursor limit", none: "No rule fits",
			without: "source active deterministic overridden_with_success overridden_with_failure overridden_with_partial",
		},
		{name: "restore_rule", title: "Restore a rule", effect: ensure, as: "rule", does: guard.Service.RestoreRule, takes: "rule_id! notes"},
		{
			name: "list_checks", title: "The guard's ledger", effect: reads, holds: "checks",
			does: guard.Service.Ledger, takes: "agent_id=agent project rule_id decision outcome cursor limit", none: "No check fits",
			about: words{"decision": oneOf(rule.DecisionAllow, rule.DecisionWarn, rule.DecisionBlock)},
		},
	}
}

// packTools are the guard's packs of rules, for the captain.
func packTools() []tool {
	return []tool{
		{name: "list_packs", title: "Packs of the guard", effect: reads, holds: "packs count", does: guard.Service.Packs, takes: "project"},
		{name: "set_packs", title: "Switch packs", effect: ensure, holds: "packs count", does: guard.Service.SetPacks, takes: "names all mode! project"},
		{name: "explain_action", title: "Explain a verdict", effect: reads, holds: "decision acts", does: guard.Service.Explain, takes: "proposed_action tool args"},
	}
}

// check checks an action, and shows the person before the client what waits for an approval.
func (s *Server) check(ctx context.Context, a rule.Action) (out checkedAction, text string, err error) {
	checked, err := s.services.Guard.Check(ctx, a)
	if err == nil {
		s.showApproval(ctx, a, checked)
	}
	out = checkedAction{
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
		return out, said, err
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
	return out, f.String(), err
}

const (
	// approvalShown is how long a question to a person stays open on the client's screen. The approval itself waits longer.
	approvalShown = 10 * time.Minute
	// maxShownCommand bounds, in bytes, what of a command is put before a person there.
	maxShownCommand = 500
)

// showApproval shows the person who sits before a client what an approval waits for, one question at a time: a person answers
// no more. It returns at once. The answer allows nothing: whoever runs the client could give it, and that may be a program that
// the agent runs. A client that is called without a session cannot be asked.
func (s *Server) showApproval(ctx context.Context, action rule.Action, checked guard.Checked) {
	req := requestOf(ctx)
	if req == nil || !lasts(ctx, req.Session) || !checked.Blocked || checked.ApprovalID == "" {
		return
	}
	if _, open := s.asking.LoadOrStore(req.Session, true); open {
		return
	}
	why := ""
	if len(checked.Matches) > 0 {
		why = " (" + visible(checked.Matches[0].Title) + ")"
	}
	question := &mcp.ElicitParams{
		Message: fmt.Sprintf("The guard blocked: %s%s. If it is meant, run in a terminal of your own: skillrouter check approve %s. What you answer here allows nothing.",
			visible(check.Head(check.OneLine(action.Command), maxShownCommand)), why, checked.ApprovalID),
		RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{}},
	}
	go func() {
		defer s.asking.Delete(req.Session)
		// The call has its answer by then. By its values the library would send the question in that call's stream.
		ctx, cancel := context.WithTimeout(valueless{context.WithoutCancel(ctx)}, approvalShown)
		defer cancel()
		_, _ = req.Session.Elicit(ctx, question) // a client that cannot be asked is told by the tool's answer
	}()
}

// valueless is a context without the values of the one in it.
type valueless struct{ context.Context }

func (valueless) Value(any) any { return nil }
