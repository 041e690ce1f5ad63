package escalation

import (
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/condition"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

// fields are what a condition sees of a lesson. They hold only what is
// short, so that no condition can be made to run long by what a lesson says.
func fields(l *lesson.Lesson) map[string]any {
	tags := []any{}
	for _, tag := range learning.FoldTags(l.Tags) {
		tags = append(tags, tag)
	}
	return map[string]any{
		"lesson_type":      string(l.Type),
		"severity":         string(l.Severity),
		"level":            string(l.Level),
		"status":           string(l.Status),
		"domain":           learning.FoldDomain(l.Domain),
		"category":         learning.FoldDomain(l.Category),
		"title":            l.Title,
		"source_agent":     l.SourceAgent,
		"project":          l.Project,
		"trust":            string(l.Trust),
		"tags":             tags,
		"confidence":       l.Confidence,
		"occurrence_count": float64(l.Occurrences),
		"transferability":  float64(l.Transferability),
		"times_applied":    float64(l.TimesApplied),
		"times_succeeded":  float64(l.TimesSucceeded),
		"validated":        l.Validated,
		"block_action":     l.BlockAction,
	}
}

// lessonGrammar returns the language of the escalations' conditions.
func lessonGrammar() *condition.Grammar {
	g := &condition.Grammar{
		Operators: []string{"==", "!=", "<", "<=", ">", ">=", "and", "&&", "or", "||", "in", "contains", "startsWith", "endsWith"},
		Loops:     []string{"any", "all", "none", "one", "count"},
		Functions: []string{"lower", "upper", "len"},
		Names:     fields(&lesson.Lesson{}),
		Folded:    []string{"domain", "category", "tags"},
	}
	g.Names["tags"] = []string{}
	return g
}
