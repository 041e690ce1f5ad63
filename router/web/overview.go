package web

func (s *Server) overviewPages() {
	s.page("/", "overview.html", "Overview", s.overview)
	s.section(operations, "Overview", "/")
}

// overview is what the page at / shows.
type overview struct {
	Health *Health
}

func (s *Server) overview(v *visit) (any, error) {
	var o overview
	if s.services.Health != nil {
		health := s.services.Health(v.context())
		o.Health = &health
	}
	return o, nil
}
