package httpapi

import (
	"context"
	"net/http"

	"skillrouter/learning"
)

func (s *Server) embeddingRoutes() {
	embeddings := s.services.Embeddings
	if embeddings == nil {
		return
	}
	register(s, operation(http.MethodGet, "/api/embeddings", "system", "How far the vectors are by which search goes by meaning too"),
		func(ctx context.Context, _ *struct{}) (*answer[learning.EmbeddingStatus], error) {
			status, err := embeddings.Embeddings(ctx)
			status.Kinds = emptied(status.Kinds)
			return reply(status), err
		})
}
