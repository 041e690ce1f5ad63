package rule_test

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/guard/rule"
)

// packCommand is a command of a collection.
type packCommand struct{ kind, pack, command string }

// packCommands reads a collection of testdata; how one is written is told in it.
func packCommands(t testing.TB, file string) (all []packCommand) {
	t.Helper()
	text, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	kind, pack := "", ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\n")
		head, isHead := strings.CutPrefix(line, "== ")
		more, isMore := strings.CutPrefix(line, "\t")
		switch {
		case isHead:
			kind, pack, _ = strings.Cut(head, " ")
		case isMore:
			all[len(all)-1].command += "\n" + more
		case line != "" && line[0] != '#':
			all = append(all, packCommand{kind, pack, line})
		}
	}
	return all
}

// packGuard is a guard with the packs, or with those of the names.
func packGuard(names ...string) *rule.Guard {
	var rules []*rule.Rule
	for _, p := range rule.Packs() {
		if len(names) == 0 || strings.Contains(" "+strings.Join(names, " ")+" ", " "+p.Name+" ") {
			for _, r := range p.Rules {
				rules = append(rules, r.In(rule.ModeBlock))
			}
		}
	}
	return rule.New(rules, rule.NewSimilarByWords())
}

// TestPackCommands holds how many of the collected commands the packs judge right.
func TestPackCommands(t *testing.T) {
	all, core := packGuard(), packGuard("core", rule.PackBuiltins)
	right, total := map[string]int{}, map[string]int{}
	judge := func(group string, g *rule.Guard, command string, want rule.Decision) {
		v := g.Check(t.Context(), rule.Action{Command: command})
		if total[group]++; v.Decision == want {
			right[group]++
			return
		}
		t.Logf("%s: %s: %q %+v", group, v.Decision, command, v.Matches)
	}
	for _, c := range packCommands(t, "packs.txt") {
		switch c.kind {
		case "allow":
			judge("allow", all, c.command, rule.DecisionAllow)
			judge("allow, core alone", core, c.command, rule.DecisionAllow)
		case "warn":
			judge("warn", all, c.command, rule.DecisionWarn)
		default:
			judge(c.kind, all, c.command, rule.DecisionBlock)
		}
	}
	for group, least := range map[string]float64{"deny": 0.98, "bypass": 0.98, "warn": 1, "allow": 1, "allow, core alone": 1} {
		if share := float64(right[group]) / float64(total[group]); share < least || total[group] == 0 {
			t.Errorf("%s: %d of %d, under %.2f", group, right[group], total[group], least)
		}
	}
	t.Logf("right: %v of %v", right, total)
}

// TestPackAlternatives: what a rule recommends passes the guard with every pack on.
func TestPackAlternatives(t *testing.T) {
	guard := packGuard()
	for _, p := range rule.Packs() {
		if p.Name == rule.PackBuiltins {
			continue // its alternatives are sentences
		}
		for _, r := range p.Rules {
			for _, a := range r.Draft.Alternatives {
				if v := guard.Check(t.Context(), rule.Action{Command: a}); v.Decision != rule.DecisionAllow {
					t.Errorf("%s recommends %q: %s %+v %q", r.Draft.ID, a, v.Decision, v.Matches, v.Notes)
				}
			}
		}
	}
	// The negative control.
	if v := guard.Check(t.Context(), rule.Action{Command: "git reset --hard"}); v.Decision != rule.DecisionBlock {
		t.Errorf("nothing is blocked: %+v", v)
	}
}

// TestPackModes: a pack that is off has no rule, one that warns blocks nothing.
func TestPackModes(t *testing.T) {
	for _, p := range rule.Packs() {
		for _, r := range p.Rules {
			if r.In(rule.ModeOff) != nil || r.In(rule.ModeWarn).Blocks() || !r.In(rule.ModeBlock).Deterministic() {
				t.Errorf("%s: %+v", r.Draft.ID, r.Draft)
			}
		}
	}
}

// TestReadPacks: one bad row refuses all of them, and says where it stands.
func TestReadPacks(t *testing.T) {
	const good = "[a 1 block]\nabout: what it is for\nfiles.root | critical | title | reason | ls\n"
	packs, err := rule.ReadPacks(good + "[b 2 off]\n# nothing yet\n")
	if err != nil || len(packs) != 2 || len(packs[0].Rules) != 1 || packs[0].About != "what it is for" || packs[1].Version != 2 || packs[1].Default != rule.ModeOff {
		t.Fatalf("%+v %v", packs, err)
	}
	for text, want := range map[string]string{
		"files.root | critical | title | reason | ls\n":                                   "line 1 of the packs: a rule stands under no pack",
		good + "[a 1 block]\n":                                                            "line 4 of the packs: the pack a stands there twice",
		good + "[b one block]\n":                                                          "no version",
		good + "[b 1 maybe]\n":                                                            "no mode",
		good + "[b 1]\n":                                                                  "a heading is",
		good + "files.root | critical | title | reason | ls\n":                            "files.root stands there twice",
		good + "files.roof | critical | title | reason | ls\n":                            `no command does the harm "files.roof"`,
		good + "files.tree | awful | title | reason | ls\n":                               "no severity",
		good + "files.tree | critical | title | reason\n":                                 "five parts",
		good + "files.tree | critical | title |   | ls\n":                                 "reason: it is empty",
		good + "files.tree | critical | " + strings.Repeat("x", 501) + " | reason | ls\n": "longer than 500",
	} {
		if packs, err := rule.ReadPacks(text); err == nil || packs != nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v %v, want %q", text, packs, err, want)
		}
	}
}

// FuzzPacks: whatever is read and judged, nothing fails, and the verdict comes in time.
func FuzzPacks(f *testing.F) {
	for i, c := range packCommands(f, "packs.txt") {
		if i%9 == 0 {
			f.Add(c.command)
		}
	}
	guard := packGuard()
	f.Fuzz(func(t *testing.T, command string) {
		guard.Check(t.Context(), rule.Action{Command: command})
		guard.Explain(t.Context(), rule.Action{Command: "pwsh -c '" + command + "'"})
		guard.Explain(t.Context(), rule.Action{Command: "make -f - <<'E'\n" + command + "\nE"})
		if packs, err := rule.ReadPacks(command); err != nil && packs != nil {
			t.Errorf("half of the packs: %v", err)
		}
	})
}

func TestPacksFor(t *testing.T) {
	for want, files := range map[string][]string{
		"":                    {"README.md", "node_modules/x/Dockerfile", "a/b/c/d/e/main.tf"},
		"docker":              {"Dockerfile"},
		"docker kubernetes":   {"app/compose.yaml", "deploy/k8s/api.yaml"},
		"terraform databases": {"infra/main.tf", "db/migrations/1.sql"},
		"ci secrets":          {".github/workflows/test.yml", ".env"},
	} {
		project := fstest.MapFS{}
		for _, f := range files {
			project[f] = &fstest.MapFile{}
		}
		if got := strings.Join(rule.PacksFor(project), " "); got != want {
			t.Errorf("%v: %q, want %q", files, got, want)
		}
	}
}

// FuzzPackRows: rows are read whole or refused whole, and what is read is told apart by its ids.
func FuzzPackRows(f *testing.F) {
	const good = "[a 1 block]\nabout: what it is for\nfiles.root | critical | title | reason | ls\n"
	for _, text := range []string{"", good, "[b 2 off]\n", "[b 2 off]\nfiles.tree | low | t | r | ls\n", "files.root | x", "[", "[a 1 block]", "|||||", "about:"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		packs, err := rule.ReadPacks(good + text)
		if err != nil {
			if packs != nil {
				t.Errorf("half of the packs: %v", err)
			}
			return
		}
		names, ids := map[string]bool{}, map[string]bool{}
		for _, p := range packs {
			if names[p.Name] || p.Name == "" || p.Version < 1 {
				t.Errorf("pack %q, version %d", p.Name, p.Version)
			}
			names[p.Name] = true
			for _, r := range p.Rules {
				if ids[r.Draft.ID] || !r.Deterministic() || len(r.Draft.Alternatives) == 0 || r.Draft.Reason == "" {
					t.Errorf("%+v", r.Draft)
				}
				ids[r.Draft.ID] = true
			}
		}
	})
}

// TestPackInProjects: a pack does in a project what was said of it there.
func TestPackInProjects(t *testing.T) {
	var rules []*rule.Rule
	modes := map[string]rule.Modes{
		"core":      {All: rule.ModeBlock},
		"docker":    {All: rule.ModeOff, Projects: map[string]rule.Mode{"infra": rule.ModeBlock, "shop": rule.ModeWarn}},
		"databases": {All: rule.ModeBlock, Projects: map[string]rule.Mode{"infra": rule.ModeOff}},
	}
	for _, p := range rule.Packs() {
		if modes[p.Name].All == "" {
			continue
		}
		for _, r := range p.Rules {
			if r = r.Under(modes[p.Name]); r != nil {
				rules = append(rules, r)
			}
		}
	}
	guard := rule.New(rules, rule.NewSimilarByWords())
	const prune, drop, reset = "docker system prune -af", "psql -c 'DROP TABLE users'", "git reset --hard"
	for _, c := range []struct {
		project, command string
		want             rule.Decision
	}{
		{"", prune, rule.DecisionAllow},
		{"infra", prune, rule.DecisionBlock},
		{"shop", prune, rule.DecisionWarn},
		{"Infra", prune, rule.DecisionAllow},
		{"", drop, rule.DecisionBlock},
		{"infra", drop, rule.DecisionAllow},
		{"infra", reset, rule.DecisionBlock},
	} {
		if v := guard.Check(t.Context(), rule.Action{Command: c.command, Project: c.project}); v.Decision != c.want {
			t.Errorf("%q in %q: %s %+v", c.command, c.project, v.Decision, v.Matches)
		}
	}
	// A copy judges the same.
	copied := rule.Copy{Packs: map[string]rule.Mode{}, Projects: map[string]map[string]rule.Mode{}, Rules: []rule.RuleDraft{{ID: "bad", Title: "bad", Pattern: "["}}}
	for name, m := range modes {
		copied.Packs[name], copied.Projects[name] = m.All, m.Projects
	}
	sealed, err := copied.Seal([]byte("key"))
	if err != nil {
		t.Fatal(err)
	}
	if copied, err = rule.OpenCopy([]byte("key"), sealed); err != nil {
		t.Fatal(err)
	}
	copied.Demoted = []string{"pack:core:git.discard"}
	away, unread := copied.Guard()
	for command, want := range map[string]rule.Decision{prune: rule.DecisionBlock, drop: rule.DecisionAllow, reset: rule.DecisionWarn} {
		if v := away.Judge(t.Context(), rule.Action{Command: command, Project: "infra"}); v.Decision != want || unread != 1 {
			t.Errorf("of the copy: %s: %s %+v, %d", command, v.Decision, v.Matches, unread)
		}
	}
	if v := away.Judge(t.Context(), rule.Action{Command: drop}); v.Decision != rule.DecisionBlock || v.Matches[0].Severity != learning.SeverityCritical {
		t.Errorf("of the copy: %+v", v)
	}
}
