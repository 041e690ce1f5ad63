package client

import (
	"context"
	"net/http"

	"skillrouter/router"
)

// Context is router.ContextService over HTTP.
type Context struct{ c *Client }

var _ router.ContextService = Context{}

// Build implements router.ContextService.
func (x Context) Build(ctx context.Context, request router.ContextRequest) (router.Context, error) {
	return call[router.Context](ctx, x.c, http.MethodPost, at("/api/context"), request)
}
