package app_test

// embeddingAccess has the route of embeddings.
var embeddingAccess = map[string][]access{
	"GET /api/embeddings": {{may: anyone, path: "/api/embeddings"}},
}
