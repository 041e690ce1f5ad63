package httpapi

func (s *Server) feedRoutes() {
	if s.services.Events != nil {
		s.engine.GET("/events", s.stream(s.services.Events))
	}
	if s.services.Socket != nil {
		s.engine.GET("/ws", s.stream(s.services.Socket))
	}
}
