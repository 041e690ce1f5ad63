package contexts

import "github.com/skillrouter/skillrouter/internal/operation"

// Operations is how the methods of a Service are called from outside.
var Operations = operation.Of("context", "/api/context",
	operation.Post("", "What an agent should know for a task, within a budget of tokens, ready to be put before a model", Service.Build).Needs("read").Keeps(),
	operation.Post("/show", "The whole texts of entries, by the handles that an index has, or by ids", Service.Show).Needs("read").Keeps())
