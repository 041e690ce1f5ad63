package httpapi

func (s *Server) embeddingRoutes() {
	if embeddings := s.services.Embeddings; embeddings != nil {
		s.at("system", "/api/embeddings").get("", "How far the vectors are by which search goes by meaning too", bare(embeddings.Embeddings))
	}
}
