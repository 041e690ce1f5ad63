package httpapi

import (
	"context"

	"skillrouter/router"
)

func (s *Server) introspectionRoutes() {
	memories := s.services.Introspection
	if memories == nil {
		return
	}
	at := s.at("memory", "/api/memory")
	at.get("/categories", "The categories of what a persona and the team remember, with counts", typed(func(ctx context.Context, in *struct {
		Persona string `query:"persona" doc:"Default: default"`
	},
	) (router.MemoryCategories, error) {
		return memories.Categories(ctx, in.Persona)
	}))
	at.get("/stats", "How much is remembered, by type and persona, and how large the databases are", typed(func(ctx context.Context, in *struct {
		Persona string `query:"persona" doc:"Only this one's; default: everybody's"`
	},
	) (router.MemoryStats, error) {
		return memories.Stats(ctx, in.Persona)
	}))
	at.post("/clear", "Delete what a persona remembers, of one type, one category, or all; without confirm, say what would be deleted", sent(memories.Clear))
}
