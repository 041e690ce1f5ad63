package httpapi

func (s *Server) reminderRoutes() {
	if s.services.Reminders == nil {
		return
	}
}
