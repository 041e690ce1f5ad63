package rule_test

import (
	"strings"
	"testing"
	"time"

	"skillrouter/learning/guard/rule"
)

// TestGuardAnswersInTime gives the guard what is long, deep or strange around
// an act that is blocked, and expects an answer in time that lets nothing pass unseen.
func TestGuardAnswersInTime(t *testing.T) {
	guard := rule.New(guardSetRules(t, "unseen"), rule.Options{})
	const act = "rm -rf /var/lib/postgresql/16/main"
	for name, c := range map[string]struct {
		text string
		want []rule.Decision
	}{
		"64 KB before it":           {strings.Repeat("ls -la /tmp; ", 5000) + act, []rule.Decision{rule.DecisionBlock}},
		"64 KB behind it":           {act + strings.Repeat("; ls -la /tmp", 5000), []rule.Decision{rule.DecisionBlock}},
		"64 KB of one word":         {"echo " + strings.Repeat("a", 60<<10) + "; " + act, []rule.Decision{rule.DecisionBlock}},
		"64 KB of a comment":        {"# " + strings.Repeat("rm ", 20000) + "\n" + act, []rule.Decision{rule.DecisionBlock}},
		"10,000 brackets around it": {strings.Repeat("( ", 10000) + act + strings.Repeat(" )", 10000), []rule.Decision{rule.DecisionBlock}},
		"10,000 open brackets":      {strings.Repeat("(", 10000) + act, []rule.Decision{rule.DecisionBlock}},
		"10,000 braces around it":   {strings.Repeat("{ ", 10000) + act + strings.Repeat("; }", 10000), []rule.Decision{rule.DecisionBlock}},
		"a megabyte before it":      {strings.Repeat("true; ", 1<<20/6) + act, []rule.Decision{rule.DecisionBlock}},
		"a megabyte of nothing":     {strings.Repeat(" ", 1<<20) + "ls", []rule.Decision{rule.DecisionAllow, rule.DecisionWarn}},
		"a megabyte of words":       {"I will " + strings.Repeat("please run ", 1<<20/11) + "ls", []rule.Decision{rule.DecisionAllow, rule.DecisionWarn}},
		"a sentence of 8 KB":        {"I will " + strings.Repeat("run and ", 900) + act, []rule.Decision{rule.DecisionBlock, rule.DecisionWarn}},
		"a mark of byte order":      {"\ufeff" + act, []rule.Decision{rule.DecisionBlock}},
		"right to left":             {"\u202e" + strings.Repeat("\u202d\u2066", 3000) + "; " + act, []rule.Decision{rule.DecisionBlock}},
		"NULs within":               {"ls\x00; " + act, []rule.Decision{rule.DecisionBlock}},
		"bytes that are no text":    {"echo \xff\xfe\xc0; " + act, []rule.Decision{rule.DecisionBlock}},
		"private marks":             {"echo \ue000\ue001\ue002\ue003download; " + act, []rule.Decision{rule.DecisionBlock}},
		"combining marks":           {"echo e" + strings.Repeat("\u0301", 20000) + "; " + act, []rule.Decision{rule.DecisionBlock}},
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			v := guard.Check(t.Context(), rule.Action{Command: c.text, Agent: "test"})
			took := time.Since(start)
			t.Logf("%s in %s %q", v.Decision, took, v.Notes)
			if took > guardPatience {
				t.Errorf("took %s", took)
			}
			for _, want := range c.want {
				if v.Decision == want {
					return
				}
			}
			t.Errorf("%s, not %v: %+v", v.Decision, c.want, v.Matches)
		})
	}
}
