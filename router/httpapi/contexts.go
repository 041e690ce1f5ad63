package httpapi

import (
	"context"
	"net/http"

	"skillrouter/router"
)

func (s *Server) contextRoutes() {
	contexts := s.services.Context
	if contexts == nil {
		return
	}
	register(s, operation(http.MethodPost, "/api/context", "context", "What an agent should know for a task, within a budget of tokens, ready to be put before a model"),
		func(ctx context.Context, in *struct{ Body router.ContextRequest }) (*answer[router.Context], error) {
			built, err := contexts.Build(ctx, in.Body)
			return reply(built), err
		})
}
