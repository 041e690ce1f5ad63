package httpapi

import (
	"context"
	"net/http"

	"skillrouter/router"
)

func (s *Server) queryRoutes() {
	if s.services.Router == nil {
		return
	}
	register(s, operation(http.MethodPost, "/query", "router", "Ask a question in plain words; it is answered from the store that fits"),
		func(ctx context.Context, in *struct{ Body router.Query }) (*answer[router.Answer], error) {
			a, err := s.services.Router.Ask(ctx, in.Body)
			return reply(a), err
		})
}
