package httpapi

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"skillrouter/router"
)

func (s *Server) introspectionRoutes() {
	memories := s.services.Introspection
	if memories == nil {
		return
	}
	op := func(method, path, summary string) huma.Operation {
		return operation(method, "/api/memory"+path, "memory", summary)
	}
	register(s, op(http.MethodGet, "/categories", "The categories of what a persona and the team remember, with counts"),
		func(ctx context.Context, in *struct {
			Persona string `query:"persona" doc:"Default: default"`
		},
		) (*answer[router.MemoryCategories], error) {
			found, err := memories.Categories(ctx, in.Persona)
			return reply(found), err
		})
	register(s, op(http.MethodGet, "/stats", "How much is remembered, by type and persona, and how large the databases are"),
		func(ctx context.Context, in *struct {
			Persona string `query:"persona" doc:"Only this one's; default: everybody's"`
		},
		) (*answer[router.MemoryStats], error) {
			found, err := memories.Stats(ctx, in.Persona)
			found.Personas, found.Databases = emptied(found.Personas), emptied(found.Databases)
			return reply(found), err
		})
	register(s, op(http.MethodPost, "/clear", "Delete what a persona remembers, of one type, one category, or all; without confirm, say what would be deleted"),
		func(ctx context.Context, in *struct{ Body router.ClearRequest }) (*answer[router.Cleared], error) {
			found, err := memories.Clear(ctx, in.Body)
			found.Types = emptied(found.Types)
			return reply(found), err
		})
}
