package guard

import (
	"slices"

	"github.com/skillrouter/skillrouter/learning/guard/act"
	"github.com/skillrouter/skillrouter/learning/guard/rule"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

// Covers implements lesson.ruleKeeper. It does not reason about rules: it asks the stored one for
// a verdict on the commands that the report's was made of.
func (g *Guards) Covers(l, report *lesson.Lesson) bool {
	own, stops := judgeOf(draft(report).Forced())
	if !stops {
		return true
	}
	stored, stops := judgeOf(draft(l))
	if !stops || report.TriggerPattern != "" && report.TriggerPattern != l.TriggerPattern {
		return false
	}
	commands := report.RelatedCommands
	if report.Action != "" && len(report.Action) <= act.MaxCommand && !slices.Contains(commands, report.Action) && act.LooksCommand(report.Action, commands) {
		commands = append(slices.Clone(commands), report.Action)
	}
	return !slices.ContainsFunc(commands, func(command string) bool {
		action := rule.Action{Command: command}
		return stronger(own.Check(g.base, action).Decision, stored.Check(g.base, action).Decision)
	})
}

// judgeOf is a guard with one rule alone.
func judgeOf(draft rule.RuleDraft) (*rule.Guard, bool) {
	r, _, err := compile(draft)
	if err != nil || r == nil {
		return nil, false
	}
	return rule.New([]*rule.Rule{r}, nil), true
}

// stronger tells whether a decision stops more than another.
func stronger(a, b rule.Decision) bool {
	return a == rule.DecisionBlock && b != rule.DecisionBlock || a == rule.DecisionWarn && b == rule.DecisionAllow
}
