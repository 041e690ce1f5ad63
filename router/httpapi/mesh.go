package httpapi

func (s *Server) meshRoutes() {
	if mesh := s.services.Mesh; mesh != nil {
		s.at("system", "/api/interlock").get("", "The UDP mesh: its peers, when they were heard, and what was heard, emitted and refused, by reason", bare(mesh.Mesh))
	}
}
