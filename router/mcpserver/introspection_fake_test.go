package mcpserver_test

import (
	"context"

	"github.com/skillrouter/skillrouter/router"
)

// houseIntrospection tells of a memory of one fact, as small as the tools' tests need it.
type houseIntrospection struct{}

func (houseIntrospection) Categories(context.Context, string) (router.MemoryCategories, error) {
	return router.MemoryCategories{Persona: "default", Categories: []string{"schemas"}, Count: 1, Held: []router.MemoryCategory{
		{Type: router.SemanticMemory, Category: "schemas", Count: 1, Bytes: 2},
	}}, nil
}

func (houseIntrospection) Stats(context.Context, string) (router.MemoryStats, error) {
	types := map[router.MemoryType]router.MemoryCount{router.SemanticMemory: {Count: 1, Bytes: 2}}
	return router.MemoryStats{
		Count: 1, Bytes: 2, Types: types, Personas: []router.PersonaMemory{{Persona: "default", Count: 1, Bytes: 2, Types: types}},
		PersonaCount: 1, Databases: []router.DatabaseSize{{Name: "learning.db", Bytes: 4096}},
	}, nil
}

func (houseIntrospection) Clear(_ context.Context, r router.ClearRequest) (router.Cleared, error) {
	return router.Cleared{
		Persona: "default", Category: r.Category, Confirmed: r.Confirm, Count: 1,
		Types: []router.ClearedCount{{Type: router.SemanticMemory, Count: 1}}, Notice: "A notice.",
	}, nil
}

func (houseIntrospection) IDs(context.Context, router.IDQuery) (router.MemoryIDs, error) {
	return router.MemoryIDs{}, nil
}
