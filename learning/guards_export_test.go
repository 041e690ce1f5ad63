package learning

import "context"

// CheckRule, KeepRules and KeepPattern are what lessons and patterns tell the guard.
func (g *Guards) CheckRule(ctx context.Context, lesson Lesson, force bool) ([]string, error) {
	return g.checkRule(ctx, lesson, force)
}

func (g *Guards) KeepRules(lessons ...Lesson) { g.keepRules(lessons...) }

func (g *Guards) KeepPattern(pattern Pattern, lessons ...Lesson) { g.keepPattern(pattern, lessons) }
