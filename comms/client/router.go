package client

import (
	"context"
	"net/http"

	"skillrouter/router"
)

// Router is router.Service over HTTP.
type Router struct{ c *Client }

var _ router.Service = Router{}

// Ask implements router.Service.
func (r Router) Ask(ctx context.Context, query router.Query) (router.Answer, error) {
	return call[router.Answer](ctx, r.c, http.MethodPost, "/query", nil, query)
}
