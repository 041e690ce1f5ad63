package httpapi

func (s *Server) webRoutes() {}
