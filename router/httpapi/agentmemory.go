package httpapi

import (
	"context"

	"skillrouter/learning/lesson"
	"skillrouter/router"
)

func (s *Server) agentMemoryRoutes(memory router.MemoryService) {
	at := s.at("memory", "")
	at.get("/agent/{name}/memory", "What an agent should know: its own lessons, its domain's, those that fit its work, and those for everybody",
		typed(func(ctx context.Context, in *struct {
			Name string `path:"name" doc:"The agent's id"`
		},
		) (router.Memory, error) {
			return memory.Memory(ctx, in.Name)
		}))
	at.get("/claude-code/context", "What a coding agent is given at the start of a session",
		asked(as(memory.SessionContext, func(c router.SessionContext) router.SessionContext {
			for topic, lessons := range c.DomainLessons {
				if lessons == nil {
					c.DomainLessons[topic] = []lesson.Lesson{}
				}
			}
			return c
		})))
	at.get("/lessons/stats", "The figures of the dashboard", bare(memory.Figures))
}

func (s *Server) introspectionRoutes(memories router.IntrospectionService) {
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
	at.get("/ids", "The ids that begin or end so, the newest first", typed(func(ctx context.Context, in *struct {
		Type string `query:"type" required:"true" doc:"knowledge, lessons, patterns, episodes, proposals, gaps, incidents, escalations, runs or checks"`
		Part string `query:"part" required:"true" doc:"The beginning or end of an id, four digits or more"`
	},
	) (router.MemoryIDs, error) {
		return memories.IDs(ctx, in.Type, in.Part)
	}))
	at.post("/clear", "Delete what a persona remembers, of one type, one category, or all; without confirm, say what would be deleted", sent(memories.Clear))
}
