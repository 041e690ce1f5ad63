package router

import (
	"context"

	"github.com/skillrouter/skillrouter/internal/operation"
	"github.com/skillrouter/skillrouter/operational"
)

// Operations is how the methods of each service here are called from outside.
var Operations = struct{ Router, Memory, Introspection, System operation.List }{
	Router: operation.Of("router", "/query",
		operation.Post("", "Ask a question in plain words; every memory and the team's state are asked", Service.Ask).Needs("read").Keeps()),
	Memory: operation.Of("memory", "",
		operation.Get("/agent/{name}/memory", "What an agent should know: its own lessons, its domain's, those that fit its work, and those for everybody", MemoryService.Memory).
			Named("The agent's id"),
		operation.Get("/claude-code/context", "What a coding agent is given at the start of a session", MemoryService.SessionContext),
		operation.Get("/lessons/stats", "The figures of the dashboard", MemoryService.Figures),
	),
	Introspection: operation.Of("memory", "/api/memory",
		operation.Get("/categories", "The categories of what a persona and the team remember, with counts", IntrospectionService.Categories).Takes("persona"),
		operation.Get("/stats", "How much is remembered, by type and persona, and how large the databases are", IntrospectionService.Stats).Takes("persona"),
		operation.Get("/ids", "The ids that begin or end so, the newest first", IntrospectionService.IDs),
		// Without confirm it deletes nothing, so that whoever reads may ask.
		operation.Post("/clear", "Delete what a persona remembers, of one type, one category, or all; without confirm, say what would be deleted", IntrospectionService.Clear).Needs("read"),
	),
	System: operation.Of("system", "",
		operation.Get("/health", "Whether the router is well, and how much it holds; without a token, where one is needed, only that it answers", SystemService.Health).Keeps(),
		operation.Get("/api/doctor", "Settings, databases, index, disk and clock, checked", SystemService.Doctor),
		operation.Get("/api/doctor/outbound", "Every place that may open a connection, and whether it is switched on", SystemService.Outbound),
	),
}

// SettledEscalations are escalations that include everything that was reported before the
// call: a reader waits until the events on their way between the databases have arrived.
type SettledEscalations struct {
	operational.EscalationService
	Crossing interface {
		Settle(ctx context.Context) error
	}
}

// List implements operational.EscalationService.
func (s SettledEscalations) List(ctx context.Context, filter operational.EscalationFilter) ([]operational.Escalation, error) {
	if err := s.Crossing.Settle(ctx); err != nil {
		return nil, err
	}
	return s.EscalationService.List(ctx, filter)
}
