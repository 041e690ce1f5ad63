package history

import "github.com/skillrouter/skillrouter/internal/operation"

// maxSteps bounds a request of steps, in bytes: what a reader sends at once, with room for JSON's escapes.
const maxSteps = 16 << 20

// Operations is how the methods of each service here are called from outside.
var Operations = struct{ Incidents, Consolidation operation.List }{
	Incidents: operation.Of("incidents", "/api/incidents",
		operation.Get("", "What fails in a project, that of the most sessions first", Service.List),
		operation.Get("/brief", "What fails again and again, and what works: five lines", Service.Brief),
		operation.Get("/sources", "The files that were read, and how far", Service.Sources),
		operation.Post("/learn", "Learn from steps of a session; those that are known change nothing", Service.Learn).UpTo(maxSteps),
		operation.Post("/answer", "What worked when the same failed before", Service.Answer).Needs("read"),
		operation.Post("/accept", "Let incidents warn before a command, or take that back", Service.Accept),
		operation.Post("/forget", "Delete what was learned of a project", Service.Forget).Takes("project").Needs("captain"),
	),
	Consolidation: operation.With(
		operation.Of("consolidation", "/api/consolidations",
			operation.Post("", "Propose what a transcript is worth remembering for; 200 if it was consolidated before", ConsolidationService.Consolidate).
				MakesIf(func(c Consolidated) bool { return !c.Duplicate }).UpTo(2*MaxTranscript), // with room for JSON's escapes
		),
		operation.Of("consolidation", "/api/proposals",
			operation.Get("", "What transcripts propose to remember, the latest first", ConsolidationService.Proposals).Holds("proposals"),
			operation.Get("/{id}", "One proposal with its evidence", ConsolidationService.Proposal),
			operation.Post("/{id}/accept", "Store what is proposed; again: nothing changes", ConsolidationService.Accept),
			operation.Post("/{id}/reject", "Say that it is not worth remembering", ConsolidationService.Reject).Takes("reason"),
		),
	),
}
