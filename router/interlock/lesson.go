package interlock

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/redact"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/experience"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

// lessonOf makes a lesson of what a peer has learned. What it does not know becomes the lesson's body.
func lessonOf(d admitted) (lesson.Draft, error) {
	m := members(maps.Clone(d.Data))
	statement := m.text("statement", "lesson_statement", "lesson", "title", "content")
	if statement == "" {
		return lesson.Draft{}, errs.InvalidField("statement", "is required")
	}
	draft := lesson.Draft{
		Type: learning.LessonType(m.text("lesson_type", "type")), Domain: m.text("domain"),
		Category: m.text("category"), Context: m.text("context", "pattern_description", "description", "summary"),
		Action: m.text("action_taken", "action"), Outcome: m.text("outcome", "result"), RootCause: m.text("root_cause"), Solution: m.text("solution"),
		Severity: learning.Severity(m.text("severity")), Tags: m.texts("tags"),
		Contexts: m.texts("contexts", "operation_types", "operation_type"), Project: m.text("project"),
		Confidence: m.share("confidence", "initial_confidence"), Trust: d.trust,
	}
	if !slices.Contains(learning.LessonTypes(), draft.Type) {
		draft.Type = learning.LessonDiscovery
	}
	if !slices.Contains(learning.Severities(), draft.Severity) {
		draft.Severity = ""
	}
	draft.Domain = cmp.Or(draft.Domain, experience.GeneralDomain)
	draft.Category = cmp.Or(draft.Category, "interlock")
	draft.Title = strings.Join(strings.Fields(statement), " ")
	if len(draft.Title) > learning.MaxTitle {
		// Before it is cut: half of a secret is not known for what it is any more.
		draft.Title, _ = redact.Text(draft.Title)
		if draft.Context != "" {
			statement += "\n\n" + draft.Context
		}
		draft.Title, draft.Context = check.Head(draft.Title, learning.MaxTitle), statement
	}
	if len(m) > 0 {
		rest, err := json.Marshal(map[string]any(m))
		if err != nil {
			return draft, errs.Wrap(errs.Invalid, err, "the data cannot be written as JSON")
		}
		draft.Body = "Heard with it: " + string(rest)
	}
	return draft, nil
}
