package httpapi

import "skillrouter/learning/verdict"

func (s *Server) verdictRoutes(verdicts verdict.Service) {
	at := s.at("knowledge", "/api/knowledge/{id}/used")
	at.post("", "Say that the entry answered a question, or did not; like questions find it from the next search on", changed(verdicts.Answered))
	at.get("", "The questions that the entry answered, the latest first", named(verdicts.Questions))
	at.delete("", "Take back what was learned of the entry: one's own voices, or as a captain all", named(verdicts.Unlearn))
	at = s.at("gaps", "/api/gaps")
	at.get("", "Questions that found nothing", asked(verdicts.Gaps))
	at.delete("/{id}", "Forget the question until it is asked again", named(silent(verdicts.Dismiss)))
}
