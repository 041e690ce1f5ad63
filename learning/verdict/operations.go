package verdict

import "github.com/skillrouter/skillrouter/internal/operation"

// Operations is how the methods of a Service are called from outside.
var Operations = operation.With(
	operation.Of("knowledge", "/api/knowledge/{id}/used",
		operation.Post("", "Say that the entry answered a question, or did not; like questions find it from the next search on", Service.Answered),
		operation.Get("", "The questions that the entry answered, the latest first", Service.Questions),
		operation.Delete("", "Take back what was learned of the entry: one's own voices, or as a captain all", Service.Unlearn),
	),
	operation.Of("gaps", "/api/gaps",
		operation.Get("", "Questions that found nothing", Service.Gaps).Keeps(),
		operation.Delete("/{id}", "Forget the question until it is asked again", Service.Dismiss).Keeps(),
	),
)
