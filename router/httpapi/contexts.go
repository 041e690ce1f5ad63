package httpapi

func (s *Server) contextRoutes() {
	if s.services.Context == nil {
		return
	}
}
