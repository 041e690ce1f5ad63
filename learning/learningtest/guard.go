package learningtest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/guard"
	"github.com/skillrouter/skillrouter/learning/guard/rule"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

// RunGuard runs the contract of GuardService. It needs the built-in rules alone.
func RunGuard(t *testing.T, open func(t *testing.T) guard.Service) {
	contract[guard.Service]{
		{"a known harm is blocked", blocks},
		{"a tool's call is judged", judgesTools},
		{"an outcome settles a check once", settles},
		{"the ledger holds every check", keepsLedger},
		{"rules tell how they did", tellsRules},
		{"packs are switched by a captain alone", switchesPacks},
		{"packs are otherwise in a project", switchesPacksInProjects},
		{"an action is explained", explainsActions},
		{"what hooks judged is taken in once", takesOffline},
		{"bad input is refused by name", refusesChecks},
	}.run(t, open)
}

const dataRule = "builtin:data-directories"

func blocks(t *testing.T, ctx context.Context, g guard.Service) {
	for command, want := range map[string]rule.Decision{
		"rm -rf /data":                                     rule.DecisionBlock,
		"cd / && sudo rm -r --force data/":                 rule.DecisionBlock,
		"./deploy.sh production":                           rule.DecisionWarn,
		"echo rm -rf /data":                                rule.DecisionAllow,
		"rm -rf ./build":                                   rule.DecisionAllow,
		"psql $SHOP_PROD -c 'UPDATE orders SET paid=true'": rule.DecisionBlock,
	} {
		c := must[guard.Checked](t)(g.Check(caller(t), rule.Action{Command: command, Context: "work", Domain: "ops", Agent: "a"}))
		if c.Decision != want || c.Blocked != (want == rule.DecisionBlock) || c.CheckID == "" {
			t.Errorf("%s: %+v, want %s", command, c, want)
		}
		if c.Matches == nil || c.Alternatives == nil || c.Warnings == nil || (len(c.Matches) == 0) != (want == rule.DecisionAllow) {
			t.Errorf("%s: %+v", command, c)
		}
		for i, m := range c.Matches {
			if m.RuleID == "" || m.Title == "" || m.WhyBad == "" || m.Severity == "" || m.Lane == "" || m.Reason == "" || len(m.Alternatives) == 0 || c.Warnings[i] != "⚠️ "+m.Title+": "+m.WhyBad {
				t.Errorf("%s: match %+v, warnings %q", command, m, c.Warnings)
			}
		}
	}
}

func judgesTools(t *testing.T, ctx context.Context, g guard.Service) {
	for _, args := range []struct {
		args map[string]any
		want rule.Decision
	}{
		{map[string]any{"command": "rm -rf /data"}, rule.DecisionBlock},
		{map[string]any{"command": "ls /data"}, rule.DecisionAllow},
	} {
		c := must[guard.Checked](t)(g.Check(caller(t), rule.Action{Tool: "bash", Args: args.args, Agent: "a"}))
		if c.Decision != args.want {
			t.Errorf("%v: %+v", args.args, c)
		}
	}
}

func settles(t *testing.T, ctx context.Context, g guard.Service) {
	c := must[guard.Checked](t)(g.Check(ctx, rule.Action{Command: "rm -rf /data", Agent: "a"}))
	draft := guard.OutcomeDraft{CheckID: c.CheckID, Outcome: lesson.OutcomeOverridden, Result: learning.ResultSuccess, Notes: "it was empty"}
	s := must[guard.Settled](t)(g.Outcome(ctx, draft))
	of := slices.IndexFunc(s.Rules, func(r guard.RuleMoved) bool { return r.RuleID == dataRule }) // a pack says it too
	if s.Duplicate || s.CheckID != c.CheckID || of < 0 || s.Rules[of].Confidence >= s.Rules[of].Previous || s.Rules[of].Demoted {
		t.Errorf("%+v", s)
	}
	if s := must[guard.Settled](t)(g.Outcome(ctx, draft)); !s.Duplicate {
		t.Errorf("again: %+v", s)
	}
	draft.Result = learning.ResultFailure
	refuses(t, errs.Conflict, "")(g.Outcome(ctx, draft))
	draft.CheckID = "nobody's"
	refuses(t, errs.NotFound, "")(g.Outcome(ctx, draft))
	// What was allowed a moment ago can be settled too, though nobody waited for it to be written.
	allowed := must[guard.Checked](t)(g.Check(ctx, rule.Action{Command: "ls", Agent: "a"}))
	must[guard.Settled](t)(g.Outcome(ctx, guard.OutcomeDraft{CheckID: allowed.CheckID, Outcome: lesson.OutcomeHeeded}))
}

func keepsLedger(t *testing.T, ctx context.Context, g guard.Service) {
	for _, command := range []string{"ls", "rm -rf /data", "export API_TOKEN=9f8e7d6c5b4a3928170655aa44bb33cc"} {
		must[guard.Checked](t)(g.Check(ctx, rule.Action{Command: command, Agent: "a", Project: "shop"}))
	}
	page := must[guard.LedgerPage](t)(g.Ledger(ctx, lesson.LedgerFilter{}))
	if page.Count != 3 || len(page.Checks) != 3 {
		t.Fatalf("%+v", page)
	}
	for _, c := range page.Checks {
		if strings.Contains(c.Action, "9f8e7d") || c.Agent != "a" || c.Project != "shop" || c.At.IsZero() {
			t.Errorf("%+v", c)
		}
	}
	blocked := must[guard.LedgerPage](t)(g.Ledger(ctx, lesson.LedgerFilter{RuleID: dataRule, Decision: rule.DecisionBlock, Agent: "a"}))
	if blocked.Count != 1 || blocked.Checks[0].Action != "rm -rf /data" || len(blocked.Checks[0].Matches) == 0 {
		t.Errorf("%+v", blocked)
	}
}

func tellsRules(t *testing.T, ctx context.Context, g guard.Service) {
	must[guard.Checked](t)(g.Check(ctx, rule.Action{Command: "rm -rf /data", Agent: "a"}))
	page := must[guard.RulePage](t)(g.Rules(ctx, guard.RuleFilter{Source: guard.RuleBuiltin, Limit: 3}))
	if page.Count != 3 || page.Total != 5 || page.Next == "" {
		t.Fatalf("%+v", page)
	}
	rest := must[guard.RulePage](t)(g.Rules(ctx, guard.RuleFilter{Source: guard.RuleBuiltin, Limit: 3, Cursor: page.Next}))
	if rest.Count != 2 || rest.Next != "" {
		t.Errorf("%+v", rest)
	}
	blocks := true
	if page := must[guard.RulePage](t)(g.Rules(ctx, guard.RuleFilter{Blocks: &blocks, Source: guard.RuleBuiltin})); page.Total != 3 {
		t.Errorf("%d block", page.Total)
	}
	r := must[guard.Rule](t)(g.Rule(ctx, dataRule))
	if r.TimesTriggered != 1 || r.LastTriggered == nil || !r.Active || !r.Blocks || r.Demoted || r.Precision != 0.8 || r.Confidence != 1 || r.Source != guard.RuleBuiltin {
		t.Errorf("%+v", r)
	}
	r = must[guard.Rule](t)(g.RestoreRule(ctx, dataRule, guard.RestorationDraft{By: "Damon W."}))
	if r.ID != dataRule || r.Demoted {
		t.Errorf("%+v", r)
	}
	refuses(t, errs.NotFound, "")(g.Rule(ctx, "no/such rule"))
}

func refusesChecks(t *testing.T, ctx context.Context, g guard.Service) {
	for _, c := range []struct {
		action rule.Action
		field  string
		code   errs.Code
	}{
		{rule.Action{Command: " "}, "proposed_action", errs.Invalid},
		{rule.Action{Command: "ls", Domain: strings.Repeat("d", check.MaxName+1)}, "domain", errs.Invalid},
		{rule.Action{Command: strings.Repeat("x", guard.MaxProposal+1)}, "proposed_action", errs.TooLarge},
	} {
		refuses(t, c.code, c.field)(g.Check(ctx, c.action))
	}
	for _, c := range []struct {
		draft guard.OutcomeDraft
		field string
	}{
		{guard.OutcomeDraft{Outcome: lesson.OutcomeHeeded}, "check_id"},
		{guard.OutcomeDraft{CheckID: "x"}, "outcome"},
		{guard.OutcomeDraft{CheckID: "x", Outcome: "ignored"}, "outcome"},
		{guard.OutcomeDraft{CheckID: "x", Outcome: lesson.OutcomeHeeded, Result: "fine"}, "result"},
	} {
		refuses(t, errs.Invalid, c.field)(g.Outcome(ctx, c.draft))
	}
	refuses(t, errs.Invalid, "severity")(g.Rules(ctx, guard.RuleFilter{Severity: "awful"}))
	refuses(t, errs.Invalid, "decision")(g.Ledger(ctx, lesson.LedgerFilter{Decision: "maybe"}))
}

func switchesPacks(t *testing.T, ctx context.Context, g guard.Service) {
	ctx = principal.With(ctx, principal.Open().UnderPassphrase(true))
	const command = "docker system prune -af"
	decision := func() rule.Decision {
		return must[guard.Checked](t)(g.Check(caller(t), rule.Action{Command: command, Agent: "a"})).Decision
	}
	mode := func(list guard.PackList, name string) rule.Mode {
		for _, p := range list.Packs {
			if p.Name == name {
				return p.Mode
			}
		}
		return ""
	}
	if list := must[guard.PackList](t)(g.Packs(ctx, guard.PackFilter{})); list.Count != len(list.Packs) || mode(list, "core") != rule.ModeBlock || mode(list, "docker") != rule.ModeOff {
		t.Errorf("at first: %+v", list)
	}
	if d := decision(); d != rule.DecisionAllow {
		t.Errorf("a pack that is off said %s", d)
	}
	for _, step := range []struct {
		mode rule.Mode
		want rule.Decision
	}{{rule.ModeBlock, rule.DecisionBlock}, {rule.ModeWarn, rule.DecisionWarn}, {rule.ModeOff, rule.DecisionAllow}} {
		list := must[guard.PackList](t)(g.SetPacks(ctx, guard.PackDraft{Names: []string{"docker"}, Mode: step.mode}))
		if d := decision(); mode(list, "docker") != step.mode || mode(list, "core") != rule.ModeBlock || d != step.want {
			t.Errorf("%s: %s, %+v", step.mode, d, list)
		}
	}
	if page := must[guard.RulePage](t)(g.Rules(ctx, guard.RuleFilter{Source: guard.RuleOfPack, Limit: 200})); page.Total == 0 || page.Rules[0].Source != guard.RuleOfPack || !page.Rules[0].Blocks {
		t.Errorf("%+v", page)
	}
	for name, draft := range map[string]guard.PackDraft{
		"mode":                     {Names: []string{"docker"}},
		"names":                    {Mode: rule.ModeOff},
		"names, one of them wrong": {Names: []string{"docker", "kitchen"}, Mode: rule.ModeBlock},
		"names and all":            {Names: []string{"docker"}, All: true, Mode: rule.ModeBlock},
	} {
		field := "names"
		if name == "mode" {
			field = name
		}
		t.Log(name)
		refuses(t, errs.Invalid, field)(g.SetPacks(ctx, draft))
	}
	if d := decision(); d != rule.DecisionAllow {
		t.Errorf("a refused draft switched a pack: %s", d)
	}
}

// packOf is the pack of a name in a list.
func packOf(list guard.PackList, name string) (pack guard.Pack) {
	for _, p := range list.Packs {
		if p.Name == name {
			pack = p
		}
	}
	return pack
}

func switchesPacksInProjects(t *testing.T, ctx context.Context, g guard.Service) {
	ctx = principal.With(ctx, principal.Open().UnderPassphrase(true))
	decision := func(project, command string) rule.Decision {
		t.Helper()
		return must[guard.Explained](t)(g.Explain(ctx, rule.Action{Command: command, Project: project})).Decision
	}
	const prune, reset = "docker system prune -af", "git reset --hard"
	list := must[guard.PackList](t)(g.SetPacks(ctx, guard.PackDraft{Names: []string{"docker"}, Mode: rule.ModeBlock, Project: "infra"}))
	if p := packOf(list, "docker"); p.Mode != rule.ModeBlock || !strings.HasPrefix(p.Because, "in the project infra since ") || len(p.Projects) != 1 || packOf(list, "core").Because != "by default" {
		t.Errorf("%+v", list)
	}
	if p := packOf(must[guard.PackList](t)(g.Packs(ctx, guard.PackFilter{})), "docker"); p.Mode != rule.ModeOff || p.Because != "" || len(p.Projects) != 1 || p.Projects[0].Project != "infra" || p.Projects[0].Mode != rule.ModeBlock {
		t.Errorf("%+v", p)
	}
	if a, b, c := decision("infra", prune), decision("shop", prune), decision("", prune); a != rule.DecisionBlock || b != rule.DecisionAllow || c != rule.DecisionAllow {
		t.Error(a, b, c)
	}
	e := must[guard.Explained](t)(g.Explain(ctx, rule.Action{Command: prune, Project: "infra"}))
	off := must[guard.Explained](t)(g.Explain(ctx, rule.Action{Command: prune, Project: "shop"}))
	if !strings.HasPrefix(e.Matches[0].Because, "in the project infra since ") || len(off.Off) != 1 || off.Off[0].Because != "by default" {
		t.Errorf("%+v %+v", e, off)
	}
	// Elsewhere it may be on, and off in one project; the core may not.
	must[guard.PackList](t)(g.SetPacks(ctx, guard.PackDraft{Names: []string{"docker"}, Mode: rule.ModeBlock}))
	must[guard.PackList](t)(g.SetPacks(ctx, guard.PackDraft{Names: []string{"docker"}, Mode: rule.ModeOff, Project: "infra"}))
	if a, b := decision("infra", prune), decision("", prune); a != rule.DecisionAllow || b != rule.DecisionBlock {
		t.Error(a, b)
	}
	for _, weaker := range []guard.PackDraft{{Names: []string{"core"}, Mode: rule.ModeWarn, Project: "infra"}, {All: true, Mode: rule.ModeOff, Project: "infra"}} {
		refuses(t, errs.Invalid, "project")(g.SetPacks(ctx, weaker))
	}
	if d := decision("infra", reset); d != rule.DecisionBlock {
		t.Error(d)
	}
	// What was said while the core was weak holds no longer than that.
	must[guard.PackList](t)(g.SetPacks(ctx, guard.PackDraft{Names: []string{"core"}, Mode: rule.ModeOff}))
	must[guard.PackList](t)(g.SetPacks(ctx, guard.PackDraft{Names: []string{"core"}, Mode: rule.ModeWarn, Project: "infra"}))
	if a, b := decision("infra", reset), decision("shop", reset); a != rule.DecisionWarn || b != rule.DecisionAllow {
		t.Error(a, b)
	}
	list = must[guard.PackList](t)(g.SetPacks(ctx, guard.PackDraft{Names: []string{"core"}, Mode: guard.ModeDefault}))
	if d := decision("infra", reset); d != rule.DecisionBlock || packOf(list, "core").By != "" {
		t.Errorf("%s %+v", d, list)
	}
	if p := packOf(must[guard.PackList](t)(g.Packs(ctx, guard.PackFilter{Project: "infra"})), "core"); p.Mode != rule.ModeBlock || !strings.HasPrefix(p.Because, "as everywhere") {
		t.Errorf("%+v", p)
	}
	// What was said is taken back.
	must[guard.PackList](t)(g.SetPacks(ctx, guard.PackDraft{All: true, Mode: guard.ModeDefault, Project: "infra"}))
	if p := packOf(must[guard.PackList](t)(g.Packs(ctx, guard.PackFilter{})), "docker"); p.Mode != rule.ModeBlock || len(p.Projects) != 0 {
		t.Errorf("%+v", p)
	}
}

func explainsActions(t *testing.T, ctx context.Context, g guard.Service) {
	e := must[guard.Explained](t)(g.Explain(ctx, rule.Action{Command: "ls && git reset --hard && docker system prune -af"}))
	if e.Decision != rule.DecisionBlock || len(e.Matches) != 1 || e.Matches[0].Pack != "core" || e.Matches[0].Sure != "certain" || len(e.Off) != 1 || e.Off[0].Pack != "docker" || len(e.Acts) != 3 || e.Acts[1].Harms[0] != "git.discard" {
		t.Errorf("%+v", e)
	}
	if page := must[guard.LedgerPage](t)(g.Ledger(ctx, lesson.LedgerFilter{})); page.Count != 0 {
		t.Errorf("an explanation is in the ledger: %+v", page)
	}
}

func takesOffline(t *testing.T, ctx context.Context, g guard.Service) {
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	check := func(n int, decision rule.Decision, rules ...string) guard.OfflineCheck {
		return guard.OfflineCheck{
			CheckID: fmt.Sprintf("01a20a86-37a7-75f5-9e8b-%012d", n), Action: "rm -rf /data", Tool: "Bash", Agent: "a", Decision: decision, RuleIDs: rules, Basis: "the copy", At: at,
		}
	}
	ahead := check(2, rule.DecisionAllow)
	ahead.At = at.AddDate(100, 0, 0)
	bad := check(3, "perhaps")
	nameless := check(4, rule.DecisionAllow)
	nameless.CheckID = ""
	draft := guard.OfflineDraft{Checks: []guard.OfflineCheck{check(1, rule.DecisionBlock, dataRule, "01a20a86-37a7-75f5-9e8b-000000000099"), ahead, bad, nameless}}
	if s := must[guard.OfflineStored](t)(g.Offline(ctx, draft)); s != (guard.OfflineStored{Stored: 2, Refused: 2}) {
		t.Errorf("%+v", s)
	}
	if s := must[guard.OfflineStored](t)(g.Offline(ctx, draft)); s != (guard.OfflineStored{Known: 2, Refused: 2}) {
		t.Errorf("again: %+v", s)
	}
	page := must[guard.LedgerPage](t)(g.Ledger(ctx, lesson.LedgerFilter{}))
	if page.Count != 2 {
		t.Fatalf("%+v", page)
	}
	if c := page.Checks[0]; !c.At.Before(ahead.At) || len(c.Matches) != 0 {
		t.Errorf("a hook's clock that is ahead: %+v", c)
	}
	c := page.Checks[1]
	if !c.At.Equal(at) || c.Decision != rule.DecisionBlock || len(c.Matches) != 1 || c.Matches[0].RuleID != dataRule || !c.Matches[0].Blocks || c.Notes[0] != lesson.NoteOffline || c.Notes[1] != "the copy" {
		t.Errorf("%+v", c)
	}
	// What came of it is told as of any check.
	must[guard.Settled](t)(g.Outcome(ctx, guard.OutcomeDraft{CheckID: c.ID, Outcome: lesson.OutcomeHeeded}))
	refuses(t, errs.TooLarge, "checks")(g.Offline(ctx, guard.OfflineDraft{Checks: make([]guard.OfflineCheck, guard.MaxOffline+1)}))
}
