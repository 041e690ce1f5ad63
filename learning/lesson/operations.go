package lesson

import "github.com/skillrouter/skillrouter/internal/operation"

const (
	aLesson  = "The lesson's id, percent-encoded as one segment of the path, or its number"
	aPattern = "The pattern's id, percent-encoded as one segment of the path, or its number"
)

// Operations is how the methods of a Service and a PatternService are called from outside.
var Operations = struct{ Lessons, Patterns operation.List }{
	Lessons: operation.Of("lessons", "/lessons",
		operation.Post("/report", "Report a lesson; the same again counts as another occurrence", Service.Report).Shaped("").Keeps(),
		operation.Post("/bulk", "Report many lessons, sent as a JSON array or as one JSON object a line", Service.ReportAll).Shaped("").Needs("read"),
		operation.Post("/search", "The same as /query/relevant, and what was left out or searched otherwise", Service.Relevant).Needs("read").Keeps(),
		operation.Get("", "List lessons, the newest first", Service.List).Keeps(),
		operation.Get("/review", "What needs an eye: promotions that have their evidence, lessons not validated for long", Service.Review),
		operation.Get("/{id}", "One lesson", Service.Lesson).Named(aLesson).Keeps(),
		operation.Patch("/{id}", "Change what a lesson says; what it said stays in its history", Service.Edit).Named(aLesson),
		operation.Post("/{id}/validate", "Judge a lesson, in the query or in the body; its confidence moves with it", Service.Validate).Shaped("lesson").Keeps(),
		operation.Post("/{id}/apply", "Say that a lesson was applied and how it went; its confidence moves with it", Service.Apply).Shaped("").Keeps(),
		operation.Post("/{id}/promote", "Draw a pattern from cases, or raise a pattern to a principle; a refusal says which evidence is missing", Service.Promote).Named(aLesson),
		operation.Post("/{id}/retire", "Take a lesson out of use; it is kept with its history", Service.Retire).Named(aLesson).Keeps(),
		operation.Post("/{id}/restore", "Take a retired lesson back into use", Service.Restore).Named(aLesson).Takes("note").Keeps(),
		operation.Get("/{id}/history", "What happened to a lesson, oldest first", Service.History).Named(aLesson).Holds("changes").Keeps(),
	),
	Patterns: operation.Of("patterns", "/patterns",
		operation.Get("", "Patterns, the latest seen first", PatternService.List).Holds("patterns"),
		operation.Post("", "Add a pattern that somebody saw; it is emerging until it is confirmed", PatternService.Add).Makes(),
		operation.Patch("/{id}", "Change what a pattern says: the fields that are sent", PatternService.Edit).Named(aPattern).Needs("captain"),
		operation.Get("/{id}", "One pattern with its evidence", PatternService.Pattern).Named(aPattern),
		operation.Post("/{id}/confirm", "Say that a pattern is real and should be enforced, in the query or in the body", PatternService.Confirm).Shaped("pattern"),
		operation.Post("/{id}/deprecate", "Say that a pattern holds no more; it is kept", PatternService.Deprecate).Shaped("pattern"),
	),
}
