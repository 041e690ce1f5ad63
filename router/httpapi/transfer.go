package httpapi

func (s *Server) transferRoutes() {}
