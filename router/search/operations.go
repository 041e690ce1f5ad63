package search

import "github.com/skillrouter/skillrouter/internal/operation"

// Operations is how the methods of a Service are called from outside.
var Operations = operation.Of("search", "/api/search",
	operation.Post("", "Find what fits a question in every memory, the likeliest first", Service.Search).Needs("read").Keeps())
