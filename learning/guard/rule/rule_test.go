package rule_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/guard/rule"
)

func TestNewGuardRuleRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		draft rule.RuleDraft
		field string
		code  errs.Code
	}{
		"nothing to recognise":        {rule.RuleDraft{}, "related_commands", errs.Invalid},
		"an unknown severity":         {rule.RuleDraft{Title: "x y", Severity: "fatal"}, "severity", errs.Invalid},
		"a broken pattern":            {rule.RuleDraft{Title: "x y", Pattern: "(a"}, "pattern", errs.Invalid},
		"look-ahead, which RE2 lacks": {rule.RuleDraft{Title: "x y", Pattern: "(?!a)b"}, "pattern", errs.Invalid},
		"a pattern for everything":    {rule.RuleDraft{Title: "x y", Pattern: ".*"}, "pattern", errs.Invalid},
		"a pattern for nothing":       {rule.RuleDraft{Title: "x y", Pattern: "x*"}, "pattern", errs.Invalid},
		"a pattern that costs":        {rule.RuleDraft{Title: "x y", Pattern: "((rm|cp){1,40}[a-z]{1,30}){1,20}end"}, "pattern", errs.Invalid},
		"841 bytes that took 127 s":   {rule.RuleDraft{Title: "x y", Pattern: strings.Repeat("(a?|b?){60}", 76) + "c{1,3}"}, "pattern", errs.Invalid},
		"a pattern too long":          {rule.RuleDraft{Title: "x y", Pattern: strings.Repeat("a", 2000)}, "pattern", errs.TooLarge},
		"a title of megabytes":        {rule.RuleDraft{Title: strings.Repeat("a", 10<<20)}, "title", errs.TooLarge},
		"a command of megabytes":      {rule.RuleDraft{Title: "x y", Commands: []string{"ls", strings.Repeat("a", 1<<20)}}, "related_commands[1]", errs.TooLarge},
		"too many commands":           {rule.RuleDraft{Title: "x y", Commands: make([]string, 1000)}, "related_commands", errs.Invalid},
		"commands for everything":     {rule.RuleDraft{Title: "x y", Commands: []string{"ls", "pwd", "git add", "git commit", "go test", "npm test", "make build", "mkdir -p build", "grep -rn main ."}}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			_, err := rule.NewRule(c.draft)
			if errs.CodeOf(err) != c.code && !(err == nil && c.code == "") {
				t.Fatalf("%v", err)
			}
			if err != nil && errs.FieldOf(err) != c.field {
				t.Errorf("field %q: %v", errs.FieldOf(err), err)
			}
			if took := time.Since(start); took > time.Second {
				t.Errorf("took %s", took)
			}
		})
	}
}

// TestGuardPatternCost holds what the costliest pattern that is let in takes.
func TestGuardPatternCost(t *testing.T) {
	var rules []*rule.Rule
	for i, p := range []string{"(a?){300}b", "([a-z]+ ?){60}9", "(.{1,9}){30}q", "(x+x+)+y", "(a|b|c|d|e){200}z", `(\w{1,5}\s?){40};`} {
		r, err := rule.NewRule(rule.RuleDraft{ID: fmt.Sprint(i), Title: "slow", Pattern: p})
		if err != nil {
			continue // refused: no cost at all
		}
		rules = append(rules, r)
	}
	if len(rules) == 0 {
		t.Fatal("every pattern was refused")
	}
	guard := rule.New(rules, rule.NewSimilarByWords())
	start := time.Now()
	guard.Check(t.Context(), rule.Action{Command: "tool " + strings.Repeat("a", 60000)})
	if took := time.Since(start); took > guardPatience {
		t.Errorf("took %s", took)
	}
}

func TestGuardRuleBlocksOnlyWhenItMay(t *testing.T) {
	for name, c := range map[string]struct {
		draft rule.RuleDraft
		want  rule.Decision
	}{
		"critical":               {rule.RuleDraft{Severity: learning.SeverityCritical}, rule.DecisionBlock},
		"high":                   {rule.RuleDraft{Severity: learning.SeverityHigh}, rule.DecisionWarn},
		"no severity":            {rule.RuleDraft{}, rule.DecisionWarn},
		"low, told to block":     {rule.RuleDraft{Severity: learning.SeverityLow, Block: true}, rule.DecisionBlock},
		"critical, but demoted":  {rule.RuleDraft{Severity: learning.SeverityCritical, WarnOnly: true}, rule.DecisionWarn},
		"told to block, demoted": {rule.RuleDraft{Severity: learning.SeverityLow, Block: true, WarnOnly: true}, rule.DecisionWarn},
	} {
		t.Run(name, func(t *testing.T) {
			c.draft.ID, c.draft.Title, c.draft.Commands = "r", "Never wipe the cache", []string{"cachectl wipe --all"}
			guard := rule.New([]*rule.Rule{guardRule(t, c.draft)}, rule.NewSimilarByWords())
			v := guard.Check(t.Context(), rule.Action{Command: "sudo cachectl --all wipe"})
			if v.Decision != c.want || len(v.Matches) != 1 || v.Matches[0].RuleID != "r" || v.Matches[0].Lane != rule.LaneDeterministic || v.Matches[0].Reason == "" {
				t.Errorf("%+v", v)
			}
		})
	}
}

func TestGuardRuleFromLesson(t *testing.T) {
	for name, c := range map[string]struct {
		draft         rule.RuleDraft
		deterministic bool
		unused        []string
	}{
		"an example as the action":    {rule.RuleDraft{Title: "Never wipe", Action: "docker volume rm pg"}, true, nil},
		"prose as the action":         {rule.RuleDraft{Title: "Never modify prod", Action: "Direct prod modification"}, false, nil},
		"code in the title":           {rule.RuleDraft{Title: "Never run `make nuke`"}, true, nil},
		"a command that only looks":   {rule.RuleDraft{Title: "Never remove", Commands: []string{"docker ps", "docker rm -f db"}}, true, []string{"docker ps"}},
		"only commands that look":     {rule.RuleDraft{Title: "Never print secrets", Commands: []string{"cat .env"}}, true, nil},
		"the name of a program":       {rule.RuleDraft{Title: "Beware of git", Commands: []string{"git"}}, false, []string{"git"}},
		"what the rule recommends":    {rule.RuleDraft{Title: "Never stop", Commands: []string{"svcctl stop x", "svcctl drain x"}, Alternatives: []string{"svcctl drain x"}}, true, []string{"svcctl drain x"}},
		"SQL as the action":           {rule.RuleDraft{Title: "Never", Action: "TRUNCATE TABLE audit"}, true, nil},
		"a program and a pattern too": {rule.RuleDraft{Title: "Beware", Commands: []string{"git"}, Pattern: `git\s+push\s+-f`}, true, []string{"git"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := guardRule(t, c.draft)
			if r.Deterministic() != c.deterministic || !slices.Equal(r.Unused(), c.unused) {
				t.Errorf("deterministic %v, unused %q", r.Deterministic(), r.Unused())
			}
		})
	}
}

func TestGuardVerdictOrder(t *testing.T) {
	rules := []*rule.Rule{
		guardRule(t, rule.RuleDraft{ID: "low", Title: "a thing", Commands: []string{"tool wipe"}, Severity: learning.SeverityLow}),
		guardRule(t, rule.RuleDraft{ID: "high", Title: "a thing", Commands: []string{"tool wipe"}, Severity: learning.SeverityHigh}),
		guardRule(t, rule.RuleDraft{ID: "block", Title: "a thing", Commands: []string{"tool wipe"}, Severity: learning.SeverityLow, Block: true}),
	}
	v := rule.New(rules, rule.NewSimilarByWords()).Check(t.Context(), rule.Action{Command: "tool wipe; tool wipe"})
	var ids []string
	for _, m := range v.Matches {
		ids = append(ids, m.RuleID)
	}
	if !slices.Equal(ids, []string{"block", "high", "low"}) {
		t.Errorf("%q", ids)
	}
}

func TestGuardToolCalls(t *testing.T) {
	guard := rule.New(guardTestRules(t), rule.NewSimilarByWords())
	for name, c := range map[string]struct {
		action rule.Action
		want   rule.Decision
	}{
		"a shell tool":                 {rule.Action{Tool: "bash", Args: map[string]any{"command": "rm -rf /srv/shop/uploads"}}, rule.DecisionBlock},
		"a terminal with a folder":     {rule.Action{Tool: "runInTerminal", Args: map[string]any{"commandLine": "rm -rf uploads", "cwd": "/srv/shop"}}, rule.DecisionBlock},
		"a program and its words":      {rule.Action{Tool: "execute_command", Args: map[string]any{"command": "rm", "args": []any{"-rf", "/srv/shop/uploads"}}}, rule.DecisionBlock},
		"a remote shell":               {rule.Action{Tool: "ssh_exec", Args: map[string]any{"host": "web-prod-1", "command": "rm -rf /var/cache/app"}}, rule.DecisionBlock},
		"python code":                  {rule.Action{Tool: "execute_python", Args: map[string]any{"code": "import shutil\nshutil.rmtree('/srv/shop/uploads')"}}, rule.DecisionBlock},
		"a SQL tool":                   {rule.Action{Tool: "postgres.query", Args: map[string]any{"sql": "drop table users"}}, rule.DecisionBlock},
		"a SQL tool that reads":        {rule.Action{Tool: "postgres.query", Args: map[string]any{"sql": "select * from users"}}, rule.DecisionAllow},
		"a SQL tool on prod":           {rule.Action{Tool: "execute_sql", Args: map[string]any{"database": "shop-prod", "query": "update carts set a=1"}}, rule.DecisionBlock},
		"a file that is deleted":       {rule.Action{Tool: "delete_file", Args: map[string]any{"path": "/etc/hosts"}}, rule.DecisionBlock},
		"a file that is written":       {rule.Action{Tool: "write_file", Args: map[string]any{"path": "/etc/hosts", "content": "x"}}, rule.DecisionBlock},
		"another file":                 {rule.Action{Tool: "write_file", Args: map[string]any{"path": "notes.md", "content": "rm -rf /srv/shop/uploads"}}, rule.DecisionAllow},
		"a file that is read":          {rule.Action{Tool: "read_file", Args: map[string]any{"path": "/etc/hosts"}}, rule.DecisionAllow},
		"a search for the words":       {rule.Action{Tool: "grep_search", Args: map[string]any{"query": "rm -rf /srv/shop/uploads"}}, rule.DecisionAllow},
		"an unknown tool":              {rule.Action{Tool: "send_mail", Args: map[string]any{"to": "a@b.c", "body": "hello"}}, rule.DecisionAllow},
		"an unknown tool, like a rule": {rule.Action{Tool: "ledger_admin", Args: map[string]any{"action": "migrate the ledger schema by hand"}}, rule.DecisionWarn},
		"a call as text":               {rule.Action{Command: `{"function":{"name":"shell","arguments":"{\"cmd\":\"rm -rf /srv/shop/uploads\"}"}}`}, rule.DecisionBlock},
		"JSON that is no call":         {rule.Action{Command: `{"a": 1}`}, rule.DecisionAllow},
		"nothing":                      {rule.Action{Command: "  "}, rule.DecisionAllow},
		"odd arguments":                {rule.Action{Tool: "bash", Args: map[string]any{"command": 7, "x": []any{nil, true}}}, rule.DecisionAllow},
	} {
		t.Run(name, func(t *testing.T) {
			if v := guard.Check(t.Context(), c.action); v.Decision != c.want {
				t.Errorf("%s, not %s: %+v %q", v.Decision, c.want, v.Matches, v.Notes)
			}
		})
	}
}

// TestGuardContextTellsTheConnection: a statement without a connection is the act where the context names it.
func TestGuardContextTellsTheConnection(t *testing.T) {
	r := guardRule(t, rule.RuleDraft{ID: "r", Title: "Never modify the billing database on PROD", Severity: learning.SeverityCritical, Commands: []string{`psql $BILLING_PROD -c "UPDATE invoices SET paid=true"`}})
	guard := rule.New([]*rule.Rule{r}, rule.NewSimilarByWords())
	for said, want := range map[string]rule.Decision{"": rule.DecisionWarn, "on billing prod": rule.DecisionBlock} {
		if v := guard.Check(t.Context(), rule.Action{Command: "UPDATE invoices SET paid = false", Context: said}); v.Decision != want {
			t.Errorf("context %q: %+v", said, v)
		}
	}
}
