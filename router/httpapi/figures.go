package httpapi

import "skillrouter/operational"

// Figures is the route of how figures went over time.
func Figures(figures operational.FigureService) Routes {
	return func(s *Server) {
		s.at("system", "/api/figures").get("", "How the team's figures went over time: agents, calls, checks, searches, failures, tokens, signals, times to answer", asked(figures.Figures))
	}
}
