package learning

import (
	"slices"

	"skillrouter/learning/guard/act"
)

// triggers implements ruleKeeper.
func (g *Guards) triggers(lesson *Lesson) []string {
	commands := lesson.RelatedCommands
	if lesson.Action != "" && len(lesson.Action) <= act.MaxCommand && !slices.Contains(commands, lesson.Action) && act.LooksCommand(g.base, lesson.Action, commands) {
		commands = append(slices.Clone(commands), lesson.Action)
	}
	return commands
}

// unites implements ruleKeeper. It does not reason about rules: it asks each for
// a verdict on the commands that it was made of.
func (g *Guards) unites(merged, lesson, report *Lesson) bool {
	g.mu.RLock()
	kept := g.rules[lesson.ID]
	if kept == nil {
		kept = g.gone[lesson.ID]
	}
	demoted := kept != nil && kept.demoted
	g.mu.RUnlock()
	var added []string
	if demoted { // whoever reports what is known already does not restore it
		has := g.triggers(lesson)
		for _, c := range g.triggers(report) {
			if !slices.Contains(has, c) {
				added = append(added, c)
			}
		}
	}
	if demoted && (len(added) > 0 || report.TriggerPattern != "" && report.TriggerPattern != lesson.TriggerPattern) {
		return false
	}
	one, ok := g.judgeOf(guardDraft(merged))
	if !ok {
		return false
	}
	for _, part := range []*Lesson{lesson, report} {
		if part.TriggerPattern != "" && part.TriggerPattern != merged.TriggerPattern {
			return false
		}
		own, ok := g.judgeOf(guardDraft(part).forced())
		if !ok {
			continue // it stops nothing
		}
		for _, command := range g.triggers(part) {
			action := Action{Command: command}
			if stronger(own.Check(g.base, action).Decision, one.Check(g.base, action).Decision) {
				return false
			}
		}
	}
	return true
}

// judgeOf is a guard with one rule alone.
func (g *Guards) judgeOf(draft GuardRuleDraft) (*Guard, bool) {
	rule, _, err := compile(g.base, draft)
	if err != nil || rule == nil {
		return nil, false
	}
	return NewGuard([]*GuardRule{rule}, GuardOptions{}), true
}

// stronger tells whether a decision stops more than another.
func stronger(a, b Decision) bool {
	return a == DecisionBlock && b != DecisionBlock || a == DecisionWarn && b == DecisionAllow
}
