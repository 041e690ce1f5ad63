package client

import (
	"context"
	"net/http"

	"skillrouter/comms"
)

// Mesh is comms.MeshService over HTTP.
type Mesh struct{ c *Client }

var _ comms.MeshService = Mesh{}

// Mesh implements comms.MeshService.
func (m Mesh) Mesh(ctx context.Context) (comms.Mesh, error) {
	return call[comms.Mesh](ctx, m.c, http.MethodGet, at("/api/interlock"), nil)
}
