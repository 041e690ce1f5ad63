package httpapi

func (s *Server) gapRoutes() {}
