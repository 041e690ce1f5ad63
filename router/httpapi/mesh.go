package httpapi

import (
	"context"
	"net/http"

	"skillrouter/comms"
)

func (s *Server) meshRoutes() {
	mesh := s.services.Mesh
	if mesh == nil {
		return
	}
	register(s, operation(http.MethodGet, "/api/interlock", "system", "The UDP mesh: its peers, when they were heard, and what was heard, emitted and refused, by reason"),
		func(ctx context.Context, _ *struct{}) (*answer[comms.Mesh], error) {
			status, err := mesh.Mesh(ctx)
			status.Peers = emptied(status.Peers)
			return reply(status), err
		})
}
