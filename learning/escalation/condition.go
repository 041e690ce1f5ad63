package escalation

import (
	"skillrouter/learning"
	"skillrouter/learning/condition"
	"skillrouter/learning/lesson"
)

// lessonField is what a condition sees of a lesson. It holds only what is
// short, so that no condition can be made to run long by what a lesson says.
type lessonField struct {
	kind  condition.Kind
	value func(l *lesson.Lesson) any
}

var lessonFields = map[string]lessonField{
	"lesson_type":      {condition.Text, func(l *lesson.Lesson) any { return string(l.Type) }},
	"severity":         {condition.Text, func(l *lesson.Lesson) any { return string(l.Severity) }},
	"level":            {condition.Text, func(l *lesson.Lesson) any { return string(l.Level) }},
	"status":           {condition.Text, func(l *lesson.Lesson) any { return string(l.Status) }},
	"domain":           {condition.Text, func(l *lesson.Lesson) any { return learning.FoldDomain(l.Domain) }},
	"category":         {condition.Text, func(l *lesson.Lesson) any { return learning.FoldDomain(l.Category) }},
	"title":            {condition.Text, func(l *lesson.Lesson) any { return l.Title }},
	"source_agent":     {condition.Text, func(l *lesson.Lesson) any { return l.SourceAgent }},
	"project":          {condition.Text, func(l *lesson.Lesson) any { return l.Project }},
	"trust":            {condition.Text, func(l *lesson.Lesson) any { return string(l.Trust) }},
	"tags":             {condition.Texts, foldedTags},
	"confidence":       {condition.Number, func(l *lesson.Lesson) any { return l.Confidence }},
	"occurrence_count": {condition.Number, func(l *lesson.Lesson) any { return float64(l.Occurrences) }},
	"transferability":  {condition.Number, func(l *lesson.Lesson) any { return float64(l.Transferability) }},
	"times_applied":    {condition.Number, func(l *lesson.Lesson) any { return float64(l.TimesApplied) }},
	"times_succeeded":  {condition.Number, func(l *lesson.Lesson) any { return float64(l.TimesSucceeded) }},
	"validated":        {condition.Truth, func(l *lesson.Lesson) any { return l.Validated }},
	"block_action":     {condition.Truth, func(l *lesson.Lesson) any { return l.BlockAction }},
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
		return field.value(l), true
	}
}

// lessonGrammar returns the language of the escalations' conditions.
func lessonGrammar() *condition.Grammar {
	g := &condition.Grammar{
		Operators: []string{"==", "!=", "<", "<=", ">", ">=", "and", "&&", "or", "||", "in", "contains", "startsWith", "endsWith"},
		Loops:     []string{"any", "all", "none", "one", "count"},
		Functions: []string{"lower", "upper", "len"},
		Names:     map[string]condition.Kind{},
		Folded:    []string{"domain", "category", "tags"},
	}
	for name, field := range lessonFields {
		g.Names[name] = field.kind
	}
	return g
}
