package httpapi

import (
	"skillrouter/learning/lesson"
	"skillrouter/router"
)

func (s *Server) agentMemoryRoutes(memory router.MemoryService) {
	offer(s, router.Operations.Memory, memory)
	s.at("memory", "").get("/claude-code/context", "What a coding agent is given at the start of a session",
		asked(as(memory.SessionContext, func(c router.SessionContext) router.SessionContext {
			for topic, lessons := range c.DomainLessons {
				if lessons == nil {
					c.DomainLessons[topic] = []lesson.Lesson{}
				}
			}
			return c
		})))
}
