package guard

import (
	"slices"

	"skillrouter/learning/guard/act"
	"skillrouter/learning/guard/rule"
	"skillrouter/learning/lesson"
)

// Triggers implements lesson.ruleKeeper.
func (g *Guards) Triggers(lesson *lesson.Lesson) []string {
	commands := lesson.RelatedCommands
	if lesson.Action != "" && len(lesson.Action) <= act.MaxCommand && !slices.Contains(commands, lesson.Action) && act.LooksCommand(lesson.Action, commands) {
		commands = append(slices.Clone(commands), lesson.Action)
	}
	return commands
}

// Unites implements lesson.ruleKeeper. It does not reason about rules: it asks each for
// a verdict on the commands that it was made of.
func (g *Guards) Unites(merged, l, report *lesson.Lesson) bool {
	g.mu.RLock()
	kept, demoted := g.rules[l.ID], g.standings[l.ID].DemotedAt != nil
	g.mu.RUnlock()
	if kept != nil {
		demoted = kept.demoted
	}
	if demoted { // whoever reports what is known already does not restore it
		has := g.Triggers(l)
		if slices.ContainsFunc(g.Triggers(report), func(c string) bool { return !slices.Contains(has, c) }) || report.TriggerPattern != "" && report.TriggerPattern != l.TriggerPattern {
			return false
		}
	}
	one, ok := g.judgeOf(draft(merged))
	if !ok {
		return false
	}
	for _, part := range []*lesson.Lesson{l, report} {
		if part.TriggerPattern != "" && part.TriggerPattern != merged.TriggerPattern {
			return false
		}
		own, ok := g.judgeOf(draft(part).Forced())
		if !ok {
			continue // it stops nothing
		}
		for _, command := range g.Triggers(part) {
			action := rule.Action{Command: command}
			if stronger(own.Check(g.base, action).Decision, one.Check(g.base, action).Decision) {
				return false
			}
		}
	}
	return true
}

// judgeOf is a guard with one rule alone.
func (g *Guards) judgeOf(draft rule.RuleDraft) (*rule.Guard, bool) {
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
