package experience

import "github.com/skillrouter/skillrouter/internal/operation"

const itsNumber = "Its number"

// Operations is how the methods of a Service are called from outside. Its ids are numbers.
var Operations = operation.Of("experience", "/api",
	operation.Get("/stats", "How much there is, and how sure", Service.Stats),
	operation.Post("/experience", "Record an episode with problem, solution, outcome and metadata", Service.Record).Makes(),
	operation.Get("/episodes", "Episodes with an outcome, newest first", Service.Recall),
	operation.Get("/patterns", "All patterns, those of the greatest weight first", Service.Patterns),
	operation.Get("/episodes/{id}", "One episode with an outcome, by its number", Service.Experience).Named(itsNumber),
	operation.Get("/patterns/{id}", "One pattern, by its number", Service.Pattern).Named(itsNumber),
	operation.Get("/lessons", "All lessons in use or deprecated, the surest first; with a filter but min_confidence, pages of them, newest first", Service.Lessons),
	operation.Post("/lessons/applicable", "Lessons that hold in a context, the surest first", Service.Applicable).Needs("read"),
	operation.Get("/lessons/{id}", "One lesson, by its number", Service.Lesson).Named(itsNumber),
	operation.Post("/lessons/{id}/apply", "Say that a lesson was applied and how it went", Service.Apply).Named(itsNumber),
	operation.Post("/lessons/learn", "Make a lesson of what at least three episodes show", Service.Learn).Makes(),
)
