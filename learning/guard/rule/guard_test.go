package rule_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/guard/rule"
)

// guardCase is a proposal and what is expected of it.
type guardCase struct {
	Rule    string `json:"rule"`
	Expect  string `json:"expect"`
	Action  string `json:"proposed_action"`
	Context string `json:"context"`
}

func guardLines[T any](t testing.TB, name string) (all []T) {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		var one T
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			t.Fatalf("%s: %v in %s", name, err, lines.Text())
		}
		all = append(all, one)
	}
	return all
}

// guardLesson is a rule as a lesson would report it.
type guardLesson struct {
	ID           string   `json:"id"`
	Title        string   `json:"title"`
	Commands     []string `json:"related_commands"`
	Action       string   `json:"action_taken"`
	Severity     string   `json:"severity"`
	Pattern      string   `json:"trigger_pattern"`
	Alternatives []string `json:"alternatives"`
	Block        bool     `json:"block_action"`
}

func guardTestRules(t testing.TB) []*rule.Rule { return guardSetRules(t, "spellings") }

func guardSetRules(t testing.TB, set string) []*rule.Rule {
	t.Helper()
	rules := rule.Builtins()
	for _, l := range guardLines[guardLesson](t, set+"-rules.jsonl") {
		rules = append(rules, guardRule(t, rule.RuleDraft{
			ID: l.ID, Title: l.Title, Commands: l.Commands, Action: l.Action, Severity: learning.Severity(l.Severity),
			Pattern: l.Pattern, Alternatives: l.Alternatives, Confidence: 1, Block: l.Block,
		}))
	}
	return rules
}

func guardRule(t testing.TB, d rule.RuleDraft) *rule.Rule {
	t.Helper()
	r, err := rule.NewRule(d)
	if err != nil {
		t.Fatalf("rule %s: %v", d.ID, err)
	}
	return r
}

// TestLoopsAreReadToTheirEnd: what stands behind the turns that are followed, and in a loop's condition, is no way round a rule.
func TestLoopsAreReadToTheirEnd(t *testing.T) {
	guard := rule.New([]*rule.Rule{guardRule(t, rule.RuleDraft{
		ID: "uploads", Title: "Never delete the uploads", Commands: []string{"rm -rf /srv/shop/uploads"}, Severity: learning.SeverityCritical,
	})}, rule.NewSimilarByWords())
	lines := strings.Repeat("x\n", 40)
	for _, command := range []string{
		"while read d; do rm -rf \"$d\"; done <<E\n" + lines + "/srv/shop/uploads\nE",
		"xargs -I{} rm -rf {} <<E\n" + lines + "/srv/shop/uploads\nE",
		"xargs rm -rf <<E\n" + lines + "/srv/shop/uploads\nE",
		"echo x | while rm -rf /srv/shop/uploads; read l; do :; done",
	} {
		if v := guard.Check(t.Context(), rule.Action{Command: command, Agent: "test"}); v.Decision == rule.DecisionAllow {
			t.Errorf("%.40q is allowed: %q", command, v.Notes)
		}
	}
}

// TestGuardCases holds the share of labelled proposals that are judged right, for
// sets of several kinds: many spellings of each rule, many kinds of rules, sets
// that were written without a look at the guard, and small ones of both sorts.
func TestGuardCases(t *testing.T) {
	for _, set := range []struct {
		name  string
		cases int // at least; fewer means that the file is cut
	}{{"spellings", 880}, {"variety", 320}, {"mixed", 230}, {"reported", 36}, {"unseen", 620}, {"further", 245}} {
		t.Run(set.name, func(t *testing.T) {
			guard := rule.New(guardSetRules(t, set.name), rule.NewSimilarByWords())
			right, total := map[string]int{}, map[string]int{}
			cases := guardLines[guardCase](t, set.name+"-cases.jsonl")
			if len(cases) < set.cases {
				t.Fatalf("only %d cases", len(cases))
			}
			for _, c := range cases {
				v := guard.Check(t.Context(), rule.Action{Command: c.Action, Context: c.Context, Agent: "test"})
				total[c.Expect]++
				if string(v.Decision) == c.Expect {
					right[c.Expect]++
					continue
				}
				t.Logf("%s, not %s (rule %s): %q: %+v %q", v.Decision, c.Expect, c.Rule, c.Action, v.Matches, v.Notes)
			}
			for expect, least := range map[string]float64{"block": 0.98, "warn": 0.95, "allow": 0.98} {
				if share := float64(right[expect]) / float64(total[expect]); share < least || total[expect] == 0 {
					t.Errorf("%s: %d of %d, a share of %.3f, under %.2f", expect, right[expect], total[expect], share, least)
				}
			}
			t.Logf("right: %v of %v", right, total)
		})
	}
}
