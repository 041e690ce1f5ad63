package httpapi

func (s *Server) feedRoutes() {}
