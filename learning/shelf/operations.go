package shelf

import "github.com/skillrouter/skillrouter/internal/operation"

// Operations is how the methods of an EmbeddingService are called from outside.
var Operations = operation.Of("system", "/api/embeddings",
	operation.Get("", "How far the vectors are by which search goes by meaning too", EmbeddingService.Embeddings))
