package httpapi

func (s *Server) contextRoutes() {
	if contexts := s.services.Context; contexts != nil {
		s.at("context", "/api/context").post("", "What an agent should know for a task, within a budget of tokens, ready to be put before a model", sent(contexts.Build))
	}
}
