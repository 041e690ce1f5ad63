package learning_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"skillrouter"
	"skillrouter/learning"
)

func TestNewGuardRuleRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		draft learning.GuardRuleDraft
		field string
		code  skillrouter.Code
	}{
		"nothing to recognise":        {learning.GuardRuleDraft{}, "related_commands", skillrouter.Invalid},
		"an unknown severity":         {learning.GuardRuleDraft{Title: "x y", Severity: "fatal"}, "severity", skillrouter.Invalid},
		"a broken pattern":            {learning.GuardRuleDraft{Title: "x y", Pattern: "(a"}, "pattern", skillrouter.Invalid},
		"look-ahead, which RE2 lacks": {learning.GuardRuleDraft{Title: "x y", Pattern: "(?!a)b"}, "pattern", skillrouter.Invalid},
		"a pattern for everything":    {learning.GuardRuleDraft{Title: "x y", Pattern: ".*"}, "pattern", skillrouter.Invalid},
		"a pattern for nothing":       {learning.GuardRuleDraft{Title: "x y", Pattern: "x*"}, "pattern", skillrouter.Invalid},
		"a pattern that costs":        {learning.GuardRuleDraft{Title: "x y", Pattern: "((rm|cp){1,40}[a-z]{1,30}){1,20}end"}, "pattern", skillrouter.Invalid},
		"841 bytes that took 127 s":   {learning.GuardRuleDraft{Title: "x y", Pattern: strings.Repeat("(a?|b?){60}", 76) + "c{1,3}"}, "pattern", skillrouter.Invalid},
		"a pattern too long":          {learning.GuardRuleDraft{Title: "x y", Pattern: strings.Repeat("a", 2000)}, "pattern", skillrouter.TooLarge},
		"a title of megabytes":        {learning.GuardRuleDraft{Title: strings.Repeat("a", 10<<20)}, "title", skillrouter.TooLarge},
		"a command of megabytes":      {learning.GuardRuleDraft{Title: "x y", Commands: []string{"ls", strings.Repeat("a", 1<<20)}}, "related_commands[1]", skillrouter.TooLarge},
		"too many commands":           {learning.GuardRuleDraft{Title: "x y", Commands: make([]string, 1000)}, "related_commands", skillrouter.Invalid},
		"commands for everything":     {learning.GuardRuleDraft{Title: "x y", Commands: []string{"ls", "pwd", "git add", "git commit", "go test", "npm test", "make build", "mkdir -p build", "grep -rn main ."}}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			_, err := learning.NewGuardRule(t.Context(), c.draft)
			if skillrouter.CodeOf(err) != c.code && !(err == nil && c.code == "") {
				t.Fatalf("%v", err)
			}
			if err != nil && skillrouter.FieldOf(err) != c.field {
				t.Errorf("field %q: %v", skillrouter.FieldOf(err), err)
			}
			if took := time.Since(start); took > time.Second {
				t.Errorf("took %s", took)
			}
		})
	}
}

// TestGuardPatternCost holds what the costliest pattern that is let in takes.
func TestGuardPatternCost(t *testing.T) {
	var rules []*learning.GuardRule
	for i, p := range []string{"(a?){300}b", "([a-z]+ ?){60}9", "(.{1,9}){30}q", "(x+x+)+y", "(a|b|c|d|e){200}z", `(\w{1,5}\s?){40};`} {
		r, err := learning.NewGuardRule(t.Context(), learning.GuardRuleDraft{ID: fmt.Sprint(i), Title: "slow", Pattern: p})
		if err != nil {
			continue // refused: no cost at all
		}
		rules = append(rules, r)
	}
	if len(rules) == 0 {
		t.Fatal("every pattern was refused")
	}
	guard := learning.NewGuard(rules, learning.GuardOptions{})
	start := time.Now()
	guard.Check(t.Context(), learning.Action{Command: "tool " + strings.Repeat("a", 60000)})
	if took := time.Since(start); took > guardPatience {
		t.Errorf("took %s", took)
	}
}

func TestGuardRuleBlocksOnlyWhenItMay(t *testing.T) {
	for name, c := range map[string]struct {
		draft learning.GuardRuleDraft
		want  learning.Decision
	}{
		"critical":               {learning.GuardRuleDraft{Severity: learning.SeverityCritical}, learning.DecisionBlock},
		"high":                   {learning.GuardRuleDraft{Severity: learning.SeverityHigh}, learning.DecisionWarn},
		"no severity":            {learning.GuardRuleDraft{}, learning.DecisionWarn},
		"low, told to block":     {learning.GuardRuleDraft{Severity: learning.SeverityLow, Block: true}, learning.DecisionBlock},
		"critical, but demoted":  {learning.GuardRuleDraft{Severity: learning.SeverityCritical, WarnOnly: true}, learning.DecisionWarn},
		"told to block, demoted": {learning.GuardRuleDraft{Severity: learning.SeverityLow, Block: true, WarnOnly: true}, learning.DecisionWarn},
	} {
		t.Run(name, func(t *testing.T) {
			c.draft.ID, c.draft.Title, c.draft.Commands = "r", "Never wipe the cache", []string{"cachectl wipe --all"}
			guard := learning.NewGuard([]*learning.GuardRule{guardRule(t, c.draft)}, learning.GuardOptions{})
			v := guard.Check(t.Context(), learning.Action{Command: "sudo cachectl --all wipe"})
			if v.Decision != c.want || len(v.Matches) != 1 || v.Matches[0].RuleID != "r" || v.Matches[0].Lane != learning.LaneDeterministic || v.Matches[0].Reason == "" {
				t.Errorf("%+v", v)
			}
		})
	}
}

func TestGuardRuleFromLesson(t *testing.T) {
	for name, c := range map[string]struct {
		draft         learning.GuardRuleDraft
		deterministic bool
		unused        []string
	}{
		"an example as the action":    {learning.GuardRuleDraft{Title: "Never wipe", Action: "docker volume rm pg"}, true, nil},
		"prose as the action":         {learning.GuardRuleDraft{Title: "Never modify prod", Action: "Direct prod modification"}, false, nil},
		"code in the title":           {learning.GuardRuleDraft{Title: "Never run `make nuke`"}, true, nil},
		"a command that only looks":   {learning.GuardRuleDraft{Title: "Never remove", Commands: []string{"docker ps", "docker rm -f db"}}, true, []string{"docker ps"}},
		"only commands that look":     {learning.GuardRuleDraft{Title: "Never print secrets", Commands: []string{"cat .env"}}, true, nil},
		"the name of a program":       {learning.GuardRuleDraft{Title: "Beware of git", Commands: []string{"git"}}, false, []string{"git"}},
		"what the rule recommends":    {learning.GuardRuleDraft{Title: "Never stop", Commands: []string{"svcctl stop x", "svcctl drain x"}, Alternatives: []string{"svcctl drain x"}}, true, []string{"svcctl drain x"}},
		"SQL as the action":           {learning.GuardRuleDraft{Title: "Never", Action: "TRUNCATE TABLE audit"}, true, nil},
		"a program and a pattern too": {learning.GuardRuleDraft{Title: "Beware", Commands: []string{"git"}, Pattern: `git\s+push\s+-f`}, true, []string{"git"}},
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
	rules := []*learning.GuardRule{
		guardRule(t, learning.GuardRuleDraft{ID: "low", Title: "a thing", Commands: []string{"tool wipe"}, Severity: learning.SeverityLow}),
		guardRule(t, learning.GuardRuleDraft{ID: "high", Title: "a thing", Commands: []string{"tool wipe"}, Severity: learning.SeverityHigh}),
		guardRule(t, learning.GuardRuleDraft{ID: "block", Title: "a thing", Commands: []string{"tool wipe"}, Severity: learning.SeverityLow, Block: true}),
	}
	v := learning.NewGuard(rules, learning.GuardOptions{}).Check(t.Context(), learning.Action{Command: "tool wipe; tool wipe"})
	var ids []string
	for _, m := range v.Matches {
		ids = append(ids, m.RuleID)
	}
	if !slices.Equal(ids, []string{"block", "high", "low"}) {
		t.Errorf("%q", ids)
	}
}

func TestGuardToolCalls(t *testing.T) {
	guard := learning.NewGuard(guardTestRules(t), learning.GuardOptions{})
	for name, c := range map[string]struct {
		action learning.Action
		want   learning.Decision
	}{
		"a shell tool":                 {learning.Action{Tool: "bash", Args: map[string]any{"command": "rm -rf /srv/shop/uploads"}}, learning.DecisionBlock},
		"a terminal with a folder":     {learning.Action{Tool: "runInTerminal", Args: map[string]any{"commandLine": "rm -rf uploads", "cwd": "/srv/shop"}}, learning.DecisionBlock},
		"a program and its words":      {learning.Action{Tool: "execute_command", Args: map[string]any{"command": "rm", "args": []any{"-rf", "/srv/shop/uploads"}}}, learning.DecisionBlock},
		"a remote shell":               {learning.Action{Tool: "ssh_exec", Args: map[string]any{"host": "web-prod-1", "command": "rm -rf /var/cache/app"}}, learning.DecisionBlock},
		"python code":                  {learning.Action{Tool: "execute_python", Args: map[string]any{"code": "import shutil\nshutil.rmtree('/srv/shop/uploads')"}}, learning.DecisionBlock},
		"a SQL tool":                   {learning.Action{Tool: "postgres.query", Args: map[string]any{"sql": "drop table users"}}, learning.DecisionBlock},
		"a SQL tool that reads":        {learning.Action{Tool: "postgres.query", Args: map[string]any{"sql": "select * from users"}}, learning.DecisionAllow},
		"a SQL tool on prod":           {learning.Action{Tool: "execute_sql", Args: map[string]any{"database": "shop-prod", "query": "update carts set a=1"}}, learning.DecisionBlock},
		"a file that is deleted":       {learning.Action{Tool: "delete_file", Args: map[string]any{"path": "/etc/hosts"}}, learning.DecisionBlock},
		"a file that is written":       {learning.Action{Tool: "write_file", Args: map[string]any{"path": "/etc/hosts", "content": "x"}}, learning.DecisionBlock},
		"another file":                 {learning.Action{Tool: "write_file", Args: map[string]any{"path": "notes.md", "content": "rm -rf /srv/shop/uploads"}}, learning.DecisionAllow},
		"a file that is read":          {learning.Action{Tool: "read_file", Args: map[string]any{"path": "/etc/hosts"}}, learning.DecisionAllow},
		"a search for the words":       {learning.Action{Tool: "grep_search", Args: map[string]any{"query": "rm -rf /srv/shop/uploads"}}, learning.DecisionAllow},
		"an unknown tool":              {learning.Action{Tool: "send_mail", Args: map[string]any{"to": "a@b.c", "body": "hello"}}, learning.DecisionAllow},
		"an unknown tool, like a rule": {learning.Action{Tool: "ledger_admin", Args: map[string]any{"action": "migrate the ledger schema by hand"}}, learning.DecisionWarn},
		"a call as text":               {learning.Action{Command: `{"function":{"name":"shell","arguments":"{\"cmd\":\"rm -rf /srv/shop/uploads\"}"}}`}, learning.DecisionBlock},
		"JSON that is no call":         {learning.Action{Command: `{"a": 1}`}, learning.DecisionAllow},
		"nothing":                      {learning.Action{Command: "  "}, learning.DecisionAllow},
		"odd arguments":                {learning.Action{Tool: "bash", Args: map[string]any{"command": 7, "x": []any{nil, true}}}, learning.DecisionAllow},
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
	r := guardRule(t, learning.GuardRuleDraft{ID: "r", Title: "Never modify the billing database on PROD", Severity: learning.SeverityCritical, Commands: []string{`psql $BILLING_PROD -c "UPDATE invoices SET paid=true"`}})
	guard := learning.NewGuard([]*learning.GuardRule{r}, learning.GuardOptions{})
	for said, want := range map[string]learning.Decision{"": learning.DecisionWarn, "on billing prod": learning.DecisionBlock} {
		if v := guard.Check(t.Context(), learning.Action{Command: "UPDATE invoices SET paid = false", Context: said}); v.Decision != want {
			t.Errorf("context %q: %+v", said, v)
		}
	}
}
