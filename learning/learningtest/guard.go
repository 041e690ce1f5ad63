package learningtest

import (
	"strings"
	"testing"

	"skillrouter"
	"skillrouter/learning"
)

// RunGuard runs the contract of GuardService. It needs the built-in rules alone.
func RunGuard(t *testing.T, open func(t *testing.T) learning.GuardService) {
	for _, test := range []struct {
		name string
		run  func(t *testing.T, g learning.GuardService)
	}{
		{"a known harm is blocked", blocks},
		{"a tool's call is judged", judgesTools},
		{"an outcome settles a check once", settles},
		{"the ledger holds every check", keepsLedger},
		{"rules tell how they did", tellsRules},
		{"bad input is refused by name", refusesChecks},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, open(t)) })
	}
}

const dataRule = "builtin:data-directories"

func blocks(t *testing.T, g learning.GuardService) {
	for command, want := range map[string]learning.Decision{
		"rm -rf /data":                                     learning.DecisionBlock,
		"cd / && sudo rm -r --force data/":                 learning.DecisionBlock,
		"./deploy.sh production":                           learning.DecisionWarn,
		"echo rm -rf /data":                                learning.DecisionAllow,
		"rm -rf ./build":                                   learning.DecisionAllow,
		"psql $SHOP_PROD -c 'UPDATE orders SET paid=true'": learning.DecisionBlock,
	} {
		c := must[learning.Checked](t)(g.Check(caller(t), learning.Action{Command: command, Context: "work", Domain: "ops", Agent: "a"}))
		if c.Decision != want || c.Blocked != (want == learning.DecisionBlock) || c.CheckID == "" {
			t.Errorf("%s: %+v, want %s", command, c, want)
		}
		if c.Matches == nil || c.Alternatives == nil || c.Warnings == nil || (len(c.Matches) == 0) != (want == learning.DecisionAllow) {
			t.Errorf("%s: %+v", command, c)
		}
		for i, m := range c.Matches {
			if m.RuleID == "" || m.Title == "" || m.WhyBad == "" || m.Severity == "" || m.Lane == "" || m.Reason == "" || len(m.Alternatives) == 0 || c.Warnings[i] != "⚠️ "+m.Title+": "+m.WhyBad {
				t.Errorf("%s: match %+v, warnings %q", command, m, c.Warnings)
			}
		}
	}
}

func judgesTools(t *testing.T, g learning.GuardService) {
	for _, args := range []struct {
		args map[string]any
		want learning.Decision
	}{
		{map[string]any{"command": "rm -rf /data"}, learning.DecisionBlock},
		{map[string]any{"command": "ls /data"}, learning.DecisionAllow},
	} {
		c := must[learning.Checked](t)(g.Check(caller(t), learning.Action{Tool: "bash", Args: args.args, Agent: "a"}))
		if c.Decision != args.want {
			t.Errorf("%v: %+v", args.args, c)
		}
	}
}

func settles(t *testing.T, g learning.GuardService) {
	ctx := caller(t)
	c := must[learning.Checked](t)(g.Check(ctx, learning.Action{Command: "rm -rf /data", Agent: "a"}))
	draft := learning.OutcomeDraft{CheckID: c.CheckID, Outcome: learning.OutcomeOverridden, Result: learning.ResultSuccess, Notes: "it was empty"}
	s := must[learning.Settled](t)(g.Outcome(ctx, draft))
	if s.Duplicate || s.CheckID != c.CheckID || len(s.Rules) != 1 || s.Rules[0].RuleID != dataRule || s.Rules[0].Confidence >= s.Rules[0].Previous || s.Rules[0].Demoted {
		t.Errorf("%+v", s)
	}
	if s := must[learning.Settled](t)(g.Outcome(ctx, draft)); !s.Duplicate {
		t.Errorf("again: %+v", s)
	}
	draft.Result = learning.ResultFailure
	_, err := g.Outcome(ctx, draft)
	refused(t, err, skillrouter.Conflict, "")
	draft.CheckID = "nobody's"
	_, err = g.Outcome(ctx, draft)
	refused(t, err, skillrouter.NotFound, "")
	// What was allowed a moment ago can be settled too, though nobody waited for it to be written.
	allowed := must[learning.Checked](t)(g.Check(ctx, learning.Action{Command: "ls", Agent: "a"}))
	must[learning.Settled](t)(g.Outcome(ctx, learning.OutcomeDraft{CheckID: allowed.CheckID, Outcome: learning.OutcomeHeeded}))
}

func keepsLedger(t *testing.T, g learning.GuardService) {
	ctx := caller(t)
	for _, command := range []string{"ls", "rm -rf /data", "export API_TOKEN=9f8e7d6c5b4a3928170655aa44bb33cc"} {
		must[learning.Checked](t)(g.Check(ctx, learning.Action{Command: command, Agent: "a", Project: "shop"}))
	}
	page := must[learning.LedgerPage](t)(g.Ledger(ctx, learning.LedgerFilter{}))
	if page.Count != 3 || len(page.Checks) != 3 {
		t.Fatalf("%+v", page)
	}
	for _, c := range page.Checks {
		if strings.Contains(c.Action, "9f8e7d") || c.Agent != "a" || c.Project != "shop" || c.At.IsZero() {
			t.Errorf("%+v", c)
		}
	}
	blocked := must[learning.LedgerPage](t)(g.Ledger(ctx, learning.LedgerFilter{RuleID: dataRule, Decision: learning.DecisionBlock, Agent: "a"}))
	if blocked.Count != 1 || blocked.Checks[0].Action != "rm -rf /data" || len(blocked.Checks[0].Matches) != 1 {
		t.Errorf("%+v", blocked)
	}
}

func tellsRules(t *testing.T, g learning.GuardService) {
	ctx := caller(t)
	must[learning.Checked](t)(g.Check(ctx, learning.Action{Command: "rm -rf /data", Agent: "a"}))
	page := must[learning.RulePage](t)(g.Rules(ctx, learning.RuleFilter{Source: learning.RuleBuiltin, Limit: 3}))
	if page.Count != 3 || page.Total != 5 || page.Next == "" {
		t.Fatalf("%+v", page)
	}
	rest := must[learning.RulePage](t)(g.Rules(ctx, learning.RuleFilter{Source: learning.RuleBuiltin, Limit: 3, Cursor: page.Next}))
	if rest.Count != 2 || rest.Next != "" {
		t.Errorf("%+v", rest)
	}
	blocks := true
	if page := must[learning.RulePage](t)(g.Rules(ctx, learning.RuleFilter{Blocks: &blocks, Source: learning.RuleBuiltin})); page.Total != 3 {
		t.Errorf("%d block", page.Total)
	}
	r := must[learning.Rule](t)(g.Rule(ctx, dataRule))
	if r.TimesTriggered != 1 || r.LastTriggered == nil || !r.Active || !r.Blocks || r.Demoted || r.Precision != 0.8 || r.Confidence != 1 || r.Source != learning.RuleBuiltin {
		t.Errorf("%+v", r)
	}
	r = must[learning.Rule](t)(g.RestoreRule(ctx, dataRule, learning.RestorationDraft{By: "Damon W."}))
	if r.ID != dataRule || r.Demoted {
		t.Errorf("%+v", r)
	}
	_, err := g.Rule(ctx, "no/such rule")
	refused(t, err, skillrouter.NotFound, "")
}

func refusesChecks(t *testing.T, g learning.GuardService) {
	ctx := caller(t)
	for _, c := range []struct {
		action learning.Action
		field  string
		code   skillrouter.Code
	}{
		{learning.Action{Command: " "}, "proposed_action", skillrouter.Invalid},
		{learning.Action{Command: "ls", Domain: strings.Repeat("d", skillrouter.MaxName+1)}, "domain", skillrouter.Invalid},
		{learning.Action{Command: strings.Repeat("x", learning.MaxProposal+1)}, "proposed_action", skillrouter.TooLarge},
	} {
		_, err := g.Check(ctx, c.action)
		refused(t, err, c.code, c.field)
	}
	for _, c := range []struct {
		draft learning.OutcomeDraft
		field string
	}{
		{learning.OutcomeDraft{Outcome: learning.OutcomeHeeded}, "check_id"},
		{learning.OutcomeDraft{CheckID: "x"}, "outcome"},
		{learning.OutcomeDraft{CheckID: "x", Outcome: "ignored"}, "outcome"},
		{learning.OutcomeDraft{CheckID: "x", Outcome: learning.OutcomeHeeded, Result: "fine"}, "result"},
	} {
		_, err := g.Outcome(ctx, c.draft)
		refused(t, err, skillrouter.Invalid, c.field)
	}
	_, err := g.Rules(ctx, learning.RuleFilter{Severity: "awful"})
	refused(t, err, skillrouter.Invalid, "severity")
	_, err = g.Ledger(ctx, learning.LedgerFilter{Decision: "maybe"})
	refused(t, err, skillrouter.Invalid, "decision")
}
