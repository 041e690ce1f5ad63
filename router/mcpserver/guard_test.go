package mcpserver_test

import (
	"context"
	"strings"
	"testing"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/guard"
	"github.com/skillrouter/skillrouter/learning/guard/rule"
	"github.com/skillrouter/skillrouter/learning/learningtest"
	"github.com/skillrouter/skillrouter/learning/lesson"
	learningstore "github.com/skillrouter/skillrouter/learning/store"
	"github.com/skillrouter/skillrouter/router/mcpserver"
)

// toolGuard is the guard as far as tools reach: checking, without what no tool shows.
type toolGuard struct {
	guard.Service
	tools *tools
}

func (g toolGuard) Check(ctx context.Context, a rule.Action) (guard.Checked, error) {
	if a.Project != "" {
		return g.Service.Check(ctx, a)
	}
	arguments := map[string]any{"proposed_action": a.Command, "context": a.Context, "domain": a.Domain, "tool": a.Tool}
	if a.Args != nil {
		arguments["args"] = a.Args
	}
	return callTool[guard.Checked](ctx, g.tools, a.Agent, "check_before_action", arguments)
}

// Outcome tells what came of a check as the tool does, by the agent that is asked for.
func (g toolGuard) Outcome(ctx context.Context, d guard.OutcomeDraft) (guard.Settled, error) {
	arguments := map[string]any{"check_id": d.CheckID, "outcome": d.Outcome, "notes": d.Notes}
	if d.Result != "" {
		arguments["result"] = d.Result
	}
	return callTool[guard.Settled](ctx, g.tools, d.Agent, "check_outcome", arguments)
}

// TestGuardContract holds the tool to what the guard promises.
func TestGuardContract(t *testing.T) {
	learningtest.RunGuard(t, func(t *testing.T) guard.Service {
		db, _ := openDatabase(t, "learning")
		guards := guard.NewGuards(t.Context(), learningstore.New(db.Read, db.Commit), guard.GuardsOptions{})
		return toolGuard{guards, serveTools(t, mcpserver.Services{Guard: guards})}
	})
}

// TestCheckNamesItself holds the text of a check that found something to the
// id by which its outcome is told: a model may be shown the text alone.
func TestCheckNamesItself(t *testing.T) {
	client := dial(t, mcpserver.New(new(house).services(), mcpserver.Options{}))
	text, _, failed := call(t, client, "check_before_action", map[string]any{"proposed_action": "rm -rf /data"})
	if failed || !strings.Contains(text, "BLOCKED: do not do this. This is check c1.") {
		t.Error(text)
	}
	text, fields, failed := call(t, client, "check_before_action", map[string]any{"proposed_action": "ls"})
	if failed || text != "Nothing is known against it." || fields["check_id"] != "c2" {
		t.Error(text, fields)
	}
}

// TestOutcomeTellsOfDemotion goes over what a model is told of an outcome.
func TestOutcomeTellsOfDemotion(t *testing.T) {
	client := dial(t, mcpserver.New(new(house).services(), mcpserver.Options{Toolsets: toolsets(t, "lessons")}))
	for check, want := range map[string]string{
		"c1":   "confidence: 0.39\n     precision: 0.57\n     demoted: true",
		"told": "duplicate",
		"gone": "no check has this id",
	} {
		text, _, _ := call(t, client, "check_outcome", map[string]any{"check_id": check, "outcome": "overridden", "result": "success"})
		if !strings.Contains(text, want) {
			t.Errorf("%s: %q, want %q", check, text, want)
		}
	}
}

// houseGuard is the guard as small as the tools' tests need it.
type houseGuard struct{ guard.Service }

func (houseGuard) Check(_ context.Context, a rule.Action) (guard.Checked, error) {
	c := guard.Checked{Decision: rule.DecisionAllow, CheckID: "c2", Matches: []rule.Match{}, Alternatives: []string{}, Warnings: []string{}}
	if strings.Contains(a.Command, "rm") {
		c.Decision, c.Blocked, c.CheckID = rule.DecisionBlock, true, "c1"
		c.Matches = append(c.Matches, rule.Match{RuleID: "r1", Title: "T", Severity: learning.SeverityCritical, Lane: rule.LaneDeterministic, Alternatives: []string{}})
		c.Warnings = append(c.Warnings, "T")
	}
	return c, nil
}

func (houseGuard) Outcome(_ context.Context, d guard.OutcomeDraft) (guard.Settled, error) {
	settled := guard.Settled{CheckID: d.CheckID, Outcome: d.Outcome, Result: d.Result, Rules: []guard.RuleMoved{}}
	switch d.CheckID {
	case "gone":
		return guard.Settled{}, errs.Errorf(errs.NotFound, "no check has this id")
	case "told":
		settled.Duplicate = true
	default:
		settled.Rules = append(settled.Rules, guard.RuleMoved{RuleID: "r1", Previous: 0.72, Confidence: 0.39, Precision: 0.57, Demoted: true})
	}
	return settled, nil
}

func (houseGuard) Rules(ctx context.Context, _ guard.RuleFilter) (guard.RulePage, error) {
	r, err := houseGuard{}.RestoreRule(ctx, "", guard.RestorationDraft{})
	return guard.RulePage{Rules: []guard.Rule{r}, Count: 1, Total: 1}, err
}

func (houseGuard) RestoreRule(context.Context, string, guard.RestorationDraft) (guard.Rule, error) {
	return guard.Rule{ID: "r1", Title: "T", WhyBad: "W", Severity: learning.SeverityHigh, Blocks: true}, nil
}

func (houseGuard) Packs(context.Context, guard.PackFilter) (guard.PackList, error) {
	return guard.PackList{Packs: []guard.Pack{{Name: "core", Mode: rule.ModeBlock, Rules: 3, About: "A"}}, Count: 1}, nil
}

func (h houseGuard) SetPacks(ctx context.Context, _ guard.PackDraft) (guard.PackList, error) {
	return h.Packs(ctx, guard.PackFilter{})
}

func (houseGuard) Explain(context.Context, rule.Action) (guard.Explained, error) {
	return guard.Explained{Decision: rule.DecisionAllow, Matches: []guard.Explanation{}, Acts: []guard.ActRead{}, Notes: []string{}}, nil
}

func (houseGuard) Ledger(context.Context, lesson.LedgerFilter) (guard.LedgerPage, error) {
	return guard.LedgerPage{Checks: []lesson.CheckRecord{{ID: "c1", Agent: "a", Action: "rm -rf /data", Decision: rule.DecisionBlock, At: noon}}, Count: 1}, nil
}
