package httpapi

func (s *Server) chatRoutes() {
	if s.services.Chat == nil {
		return
	}
}
