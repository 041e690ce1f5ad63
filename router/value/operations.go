package value

import "github.com/skillrouter/skillrouter/internal/operation"

// Operations is how the methods of a Service are called from outside.
var Operations = operation.Of("incidents", "/api/value",
	operation.Get("", "What agents were told, what they used of it, which mistakes came back all the same, and what is proposed for retirement", Service.Value).Keeps())
