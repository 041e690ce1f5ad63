package httpapi

func (s *Server) sessionRoutes() {
	if s.services.Sessions == nil {
		return
	}
}
