package httpapi

func (s *Server) answeredRoutes() {
	answers := s.services.Answered
	if answers == nil {
		return
	}
	at := s.at("knowledge", "/api/knowledge/{id}/used")
	at.post("", "Say that the entry answered a question, or did not; like questions find it from the next search on", changed(answers.Answered))
	at.get("", "The questions that the entry answered, the latest first", named(answers.Questions))
	at.delete("", "Take back what was learned of the entry: one's own voices, or as a captain all", named(answers.Unlearn))
}
