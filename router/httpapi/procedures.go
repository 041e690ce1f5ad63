package httpapi

func (s *Server) procedureRoutes() {
	if s.services.Procedures == nil {
		return
	}
}
