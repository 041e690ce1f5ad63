package httpapi

import (
	"context"

	"skillrouter/learning/history"
)

// maxStepsBody bounds a request of steps, in bytes: what a reader sends at once, with room for JSON's escapes.
const maxStepsBody = 16 << 20

// ForgetDraft says whose incidents are deleted.
type ForgetDraft struct {
	Project string `json:"project,omitempty"`
}

// Incidents are the routes of incidents.
func Incidents(incidents history.Service) Routes {
	return func(s *Server) {
		at := s.at("incidents", "/api/incidents")
		at.get("", "What fails in a project, that of the most sessions first", asked(incidents.List))
		at.get("/brief", "What fails again and again, and what works: five lines", asked(incidents.Brief))
		at.get("/sources", "The files that were read, and how far", asked(incidents.Sources))
		at.post("/learn", "Learn from steps of a session; those that are known change nothing", sent(incidents.Learn).upTo(maxStepsBody))
		at.post("/answer", "What worked when the same failed before", sent(incidents.Answer))
		at.post("/accept", "Let incidents warn before a command, or take that back", sent(incidents.Accept))
		at.post("/forget", "Delete what was learned of a project", sent(func(ctx context.Context, d ForgetDraft) (history.Forgotten, error) {
			return incidents.Forget(ctx, d.Project)
		}))
	}
}
