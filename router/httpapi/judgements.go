package httpapi

func (s *Server) judgementRoutes() {
	judgements := s.services.Judgements
	if judgements == nil {
		return
	}
	at := s.at("judgements", "/api/judgements")
	at.post("", "Say which entries are right, and which are wrong, for a question; what was said of it before stands where nothing else is said", sent(judgements.Judge))
	at.get("", "List judgements, the newest first", asked(judgements.Judgements))
	at.get("/{id}", "One judgement", named(judgements.Judgement))
	at.delete("/{id}", "Remove a judgement: its author may, and a captain", named(silent(judgements.Remove)))
	at.post("/measure", "Ask every judged question; say where the right entries are found, and what is worse than the last time", bare(judgements.Measure))
}
