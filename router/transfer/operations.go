package transfer

import "github.com/skillrouter/skillrouter/internal/operation"

// Operations is how the methods of a Service are called from outside, but for exports, which are streams.
var Operations = operation.With(
	operation.Of("memory", "/api/import", operation.Post("", "Take records in", Service.Import).Shaped("").Needs("read")),
	operation.Of("memory", "/api/imports",
		operation.Get("", "The imports that added something, newest first; for the captain", Service.Imports),
		operation.Post("/{id}/undo", "Take back what an import added, but for what was changed or used since; for the captain", Service.Undo).Needs("captain"),
	),
)
