package rule_test

import (
	"strings"
	"testing"

	"github.com/skillrouter/skillrouter/learning/guard/rule"
)

// A shell that is started to be typed into takes commands past the hooks, and is warned of; one that is given its commands is not.
func TestTypedIntoIsWarned(t *testing.T) {
	g := rule.New(nil, rule.NewSimilarByWords())
	for command, want := range map[string]bool{
		"bash": true, "bash -i": true, "zsh -l": true, "cd /srv && exec bash": true, "sudo bash": true, "python3": true, "python3 -i": true, "script -qc bash /dev/null": true,
		"node": true, "env -i sh": true, "/bin/bash": true,
		"bash x.sh": false, "bash -c ls": false, "echo ls | bash": false, "bash < x": false, "bash <<< ls": false, "python3 x.py": false, "python3 -m pytest": false,
		"python3 --version": false, "bash --version": false, "python3 - <<E\nprint(1)\nE": false, "node x.js": false, "cat x | python3": false, "docker run -it x bash": false,
		"which bash": false, "echo bash": false, "ls": false, "bash -n x.sh": false,
	} {
		for _, action := range []rule.Action{{Command: command}, {Tool: "Bash", Args: map[string]any{"command": command}}} {
			v := g.Check(t.Context(), action)
			got := strings.Contains(strings.Join(v.Notes, " "), "past every hook")
			if got != want || want != (v.Decision == rule.DecisionWarn) {
				t.Errorf("%q by %q: %+v, want %v", command, action.Tool, v, want)
			}
		}
	}
}

// What is longer than the guard reads is warned of, and blocked where all words of a rule that blocks stand in it.
func TestTooLongIsNeverSilent(t *testing.T) {
	r, err := rule.NewRule(rule.RuleDraft{ID: "r", Title: "Never scale the shop", Severity: "critical", Commands: []string{"kubectl scale deploy shop --replicas=0"}})
	if err != nil {
		t.Fatal(err)
	}
	rules := []*rule.Rule{r}
	for _, p := range rule.Packs() {
		rules = append(rules, p.Rules...)
	}
	g := rule.New(rules, rule.NewSimilarByWords())
	filler := strings.Repeat("echo some words that do nothing\n", 40_000) // 1.2 MB
	for name, c := range map[string]struct {
		command string
		want    rule.Decision
	}{
		"harmless":           {filler, rule.DecisionWarn},
		"a rule's words":     {filler + "kubectl scale deploy shop --replicas=0\n", rule.DecisionBlock},
		"a pack, at its end": {filler + "git push --force origin main\n", rule.DecisionBlock},
		"a pack, in between": {filler + "rm -rf ~/\n" + filler, rule.DecisionBlock},
		"a pack, in front":   {"rm -rf ~/\n" + filler, rule.DecisionBlock},
	} {
		if v := g.Check(t.Context(), rule.Action{Command: c.command}); v.Decision != c.want || len(v.Notes) == 0 {
			t.Errorf("%s: %s %d %q", name, v.Decision, len(v.Matches), v.Notes)
		}
	}
}
