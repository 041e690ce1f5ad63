package httpapi

import (
	"context"

	"skillrouter/learning/lesson"
	"skillrouter/router"
)

func (s *Server) agentMemoryRoutes() {
	memory := s.services.Memory
	if memory == nil {
		return
	}
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
