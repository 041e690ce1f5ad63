package httpapi

func (s *Server) feedRoutes() {
	if s.services.Events != nil {
		s.engine.GET("/events", s.stream(s.services.Events))
	}
	if s.services.Socket != nil {
		s.engine.GET("/ws", s.stream(s.services.Socket))
	}
	if feed := s.services.Feed; feed != nil {
		s.at("events", "/api/events").get("", "What happened, in the order of the feed: events with seq, type and data", asked(feed.Feed))
	}
	if timeline := s.services.Timeline; timeline != nil {
		s.at("events", "/api/timeline").get("", "What happened to the team, told for people, the newest first: tool calls, checks, messages, tasks, what agents were told", asked(timeline.Timeline))
	}
}
