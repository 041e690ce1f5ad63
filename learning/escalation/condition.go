package escalation

import (
	"skillrouter/learning"
	"skillrouter/learning/condition"
	"skillrouter/learning/lesson"
)

// lessonField is what a condition sees of a lesson. It holds only what is
// short, so that no condition can be made to run long by what a lesson says.
var lessonFields = map[string]func(l *lesson.Lesson) any{
	"lesson_type":      func(l *lesson.Lesson) any { return string(l.Type) },
	"severity":         func(l *lesson.Lesson) any { return string(l.Severity) },
	"level":            func(l *lesson.Lesson) any { return string(l.Level) },
	"status":           func(l *lesson.Lesson) any { return string(l.Status) },
	"domain":           func(l *lesson.Lesson) any { return learning.FoldDomain(l.Domain) },
	"category":         func(l *lesson.Lesson) any { return learning.FoldDomain(l.Category) },
	"title":            func(l *lesson.Lesson) any { return l.Title },
	"source_agent":     func(l *lesson.Lesson) any { return l.SourceAgent },
	"project":          func(l *lesson.Lesson) any { return l.Project },
	"trust":            func(l *lesson.Lesson) any { return string(l.Trust) },
	"tags":             foldedTags,
	"confidence":       func(l *lesson.Lesson) any { return l.Confidence },
	"occurrence_count": func(l *lesson.Lesson) any { return float64(l.Occurrences) },
	"transferability":  func(l *lesson.Lesson) any { return float64(l.Transferability) },
	"times_applied":    func(l *lesson.Lesson) any { return float64(l.TimesApplied) },
	"times_succeeded":  func(l *lesson.Lesson) any { return float64(l.TimesSucceeded) },
	"validated":        func(l *lesson.Lesson) any { return l.Validated },
	"block_action":     func(l *lesson.Lesson) any { return l.BlockAction },
}

func foldedTags(l *lesson.Lesson) any {
	tags := []any{}
	for _, tag := range learning.FoldTags(l.Tags) {
		tags = append(tags, tag)
	}
	return tags
}

// fields shows a lesson to conditions.
func fields(l *lesson.Lesson) func(name string) (any, bool) {
	return func(name string) (any, bool) {
		field, known := lessonFields[name]
		if !known {
			return nil, false
		}
		return field(l), true
	}
}

// lessonGrammar returns the language of the escalations' conditions.
func lessonGrammar() *condition.Grammar {
	g := &condition.Grammar{
		Operators: []string{"==", "!=", "<", "<=", ">", ">=", "and", "&&", "or", "||", "in", "contains", "startsWith", "endsWith"},
		Loops:     []string{"any", "all", "none", "one", "count"},
		Functions: []string{"lower", "upper", "len"},
		Names:     map[string]any{},
		Folded:    []string{"domain", "category", "tags"},
	}
	for name, field := range lessonFields {
		g.Names[name] = field(&lesson.Lesson{})
	}
	g.Names["tags"] = []string{}
	return g
}
