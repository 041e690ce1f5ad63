package procedure

import "github.com/skillrouter/skillrouter/internal/operation"

// Operations is how the methods of a Service are called from outside.
var Operations = operation.With(
	operation.Of("procedures", "/api/procedures",
		operation.Get("", "A persona's procedures, by name", Service.List),
		operation.Post("/search", "The procedures that fit a need in plain words, best first", Service.Search).Needs("read"),
		operation.Get("/problems", "The files that hold no procedure, and why, with the line", Service.Problems).Holds("problems"),
		operation.Get("/stats", "How many procedures each persona has, and how many runs there are", Service.Stats),
		operation.Get("/{persona}/{name}", "A procedure with the figures of its steps", Service.Procedure),
		operation.Put("/{persona}/{name}", "Store a procedure, as a further version of what is under its name; 200 if the latest says the same", Service.Save).
			MakesIf(func(s Saved) bool { return s.Changed }),
		operation.Post("/{persona}/{name}/runs", "Begin a run and hand out its first step", Service.Start).Makes(),
		operation.Delete("/{persona}/{name}", "Delete a procedure, its file and its figures; runs under way go on", Service.Delete),
	),
	operation.Of("procedures", "/api/runs",
		operation.Get("", "Runs of procedures without the results of their steps, the latest first", Service.Runs).Holds("runs"),
		operation.Get("/{id}", "A run with the results of its steps", Service.Run).Named(aRun),
		operation.Post("/{id}/next", "Hand out the step that is due; one that nobody reported only with again", Service.Next),
		operation.Post("/{id}/steps/{index}", "Say how a step went, and be handed the one that is due then", Service.Report),
		operation.Post("/{id}/abandon", "End a run before its end", Service.Abandon).Named(aRun).Takes("reason"),
	),
)

const aRun = "The run's id"
