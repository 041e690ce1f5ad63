package httpapi

func (s *Server) consolidationRoutes() {
	if s.services.Consolidation == nil {
		return
	}
}
