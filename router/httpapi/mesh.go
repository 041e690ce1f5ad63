package httpapi

func (s *Server) meshRoutes() {}
