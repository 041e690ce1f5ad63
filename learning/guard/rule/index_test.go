package rule_test

import (
	"fmt"
	"reflect"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/guard/rule"
)

// TestGuardChangesAreAsMadeAnew puts and removes rules in random order: after
// each change the guard must judge as one that was made with what is left.
func TestGuardChangesAreAsMadeAnew(t *testing.T) {
	var all []*rule.Rule
	for i := range 12 {
		for v := range 2 { // two versions of each id
			all = append(all, guardRule(t, rule.RuleDraft{
				ID: fmt.Sprint("r", i), Title: fmt.Sprintf("Never wipe the zebra%d cache v%d", i, v), Severity: learning.SeverityCritical,
				Commands: []string{fmt.Sprintf("rm -rf /srv/app%d/v%d", i, v), fmt.Sprintf("cachectl wipe zebra%d-%d", i, v)},
				Pattern:  fmt.Sprintf("zebra%d-%d --now", i, v),
			}))
		}
	}
	actions := []string{"rm -rf /srv/app1/v0", "rm -rf /srv", "cachectl wipe zebra3-1", "other zebra3-1 --now", "rm -rf \"/srv/app2/v1", "We should wipe the zebra4 cache now", "ls"}
	rapid.Check(t, func(rt *rapid.T) {
		guard, held := rule.New(nil, rule.NewSimilarByWords()), map[string]*rule.Rule{}
		for range rapid.IntRange(1, 150).Draw(rt, "changes") {
			r := all[rapid.IntRange(0, len(all)-1).Draw(rt, "rule")]
			if rapid.IntRange(0, 2).Draw(rt, "kind") == 0 {
				guard.Remove(r.Draft.ID, "no such rule")
				delete(held, r.Draft.ID)
			} else {
				guard.Put(r)
				held[r.Draft.ID] = r
			}
		}
		var left []*rule.Rule
		for _, r := range held {
			left = append(left, r)
		}
		anew := rule.New(left, rule.NewSimilarByWords())
		if guard.Rules() != len(left) {
			rt.Fatalf("%d are left, not %d", guard.Rules(), len(left))
		}
		for _, a := range actions {
			got, want := guard.Check(t.Context(), rule.Action{Command: a}), anew.Check(t.Context(), rule.Action{Command: a})
			if !reflect.DeepEqual(got, want) {
				rt.Fatalf("%q: %+v, not %+v", a, got, want)
			}
		}
	})
}

// TestGuardChangesWhileChecking: a rule that is put in the place of its former
// self is there for every check, and a rule that was put is seen at once.
func TestGuardChangesWhileChecking(t *testing.T) {
	r := func(v int) *rule.Rule {
		return guardRule(t, rule.RuleDraft{ID: "r", Title: fmt.Sprint("Never wipe it ", v), Commands: []string{"cachectl wipe && cachectl drop"}, Severity: learning.SeverityCritical})
	}
	guard := rule.New([]*rule.Rule{r(0)}, rule.NewSimilarByWords())
	var wait sync.WaitGroup
	done := make(chan struct{})
	for range 3 {
		wait.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				if v := guard.Check(t.Context(), rule.Action{Command: "cachectl wipe; cachectl drop"}); v.Decision != rule.DecisionBlock || len(v.Matches) != 1 {
					t.Errorf("while the rule was replaced: %+v", v)
					return
				}
			}
		})
	}
	for i := range 300 {
		guard.Put(r(i))
		id := fmt.Sprint("other", i)
		guard.Put(guardRule(t, rule.RuleDraft{ID: id, Title: "Never", Commands: []string{"tool" + id + " --wipe"}}))
		if v := guard.Check(t.Context(), rule.Action{Command: "tool" + id + " --wipe"}); v.Decision != rule.DecisionWarn {
			t.Fatalf("a rule that was put is not seen: %+v", v)
		}
		guard.Remove(id)
	}
	close(done)
	wait.Wait()
	if guard.Rules() != 1 {
		t.Errorf("%d rules", guard.Rules())
	}
}

// BenchmarkGuardPut is the time of adding a rule: among 10,000 it costs about what it does among 100.
func BenchmarkGuardPut(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			rules := guardNumbered(b, n+1)
			guard := rule.New(nil, rule.NewSimilarByWords())
			guard.Put(rules[:n]...)
			for b.Loop() {
				guard.Put(rules[n])
				guard.Remove(rules[n].Draft.ID)
			}
		})
	}
}
