package httpapi

import (
	"context"
	"net/http"

	"skillrouter/learning"
	"skillrouter/router"
)

func (s *Server) agentMemoryRoutes() {
	memory := s.services.Memory
	if memory == nil {
		return
	}
	register(s, operation(http.MethodGet, "/agent/{name}/memory", "memory", "What an agent should know: its own lessons, its domain's, those that fit its work, and those for everybody"),
		func(ctx context.Context, in *struct {
			Name string `path:"name" doc:"The agent's id"`
		},
		) (*answer[router.Memory], error) {
			found, err := memory.Memory(ctx, in.Name)
			found.Critical, found.Recent, found.AntiPatterns = emptied(found.Critical), emptied(found.Recent), emptied(found.AntiPatterns)
			return reply(found), err
		})
	register(s, operation(http.MethodGet, "/claude-code/context", "memory", "What a coding agent is given at the start of a session"),
		func(ctx context.Context, in *struct {
			Agent   string   `query:"agent" doc:"Whose last session is told of; default CLAUDE_CODE"`
			Domains []string `query:"domains" doc:"Further domains, categories or tags, separated by commas"`
		},
		) (*answer[router.SessionContext], error) {
			found, err := memory.SessionContext(ctx, router.SessionQuery{Agent: in.Agent, Domains: in.Domains})
			found.CriticalAntiPatterns, found.RecentFailures = emptied(found.CriticalAntiPatterns), emptied(found.RecentFailures)
			found.ActiveWorkarounds, found.LastSessionLessons = emptied(found.ActiveWorkarounds), emptied(found.LastSessionLessons)
			for topic, lessons := range found.DomainLessons {
				found.DomainLessons[topic] = emptied(lessons)
			}
			return reply(found), err
		})
	register(s, operation(http.MethodGet, "/lessons/stats", "memory", "The figures of the dashboard"),
		func(ctx context.Context, _ *struct{}) (*answer[learning.LessonFigures], error) {
			figures, err := memory.Figures(ctx)
			return reply(figures), err
		})
}
