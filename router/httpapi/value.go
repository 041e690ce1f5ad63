package httpapi

import "skillrouter/router/value"

// Value is the route of what the memory is worth.
func Value(values value.Service) Routes {
	return func(s *Server) {
		s.at("incidents", "/api/value").get("", "What agents were told, what they used of it, which mistakes came back all the same, and what is proposed for retirement", asked(values.Value))
	}
}
