package client

import (
	"context"
	"net/http"

	"skillrouter/router/contexts"
)

// Context is contexts.Service over HTTP.
type Context struct{ c *Client }

var _ contexts.Service = Context{}

// Build implements contexts.Service.
func (x Context) Build(ctx context.Context, request contexts.Request) (contexts.Context, error) {
	return call[contexts.Context](ctx, x.c, http.MethodPost, at("/api/context"), request)
}
