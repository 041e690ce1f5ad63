package learning

import "context"

// CheckRule, KeepRules and KeepPatterns are what lessons and patterns tell the guard.
func (g *Guards) CheckRule(ctx context.Context, lesson Lesson, force bool) ([]string, error) {
	return g.checkRule(ctx, lesson, force)
}

func (g *Guards) KeepRules(lessons ...Lesson) { g.keepRules(lessons...) }

func (g *Guards) KeepPatterns(ctx context.Context, patterns ...Pattern) error {
	return g.keepPatterns(ctx, patterns...)
}
