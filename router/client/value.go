package client

import (
	"context"
	"net/http"

	"skillrouter/router/value"
)

// Value is value.Service over HTTP.
type Value struct{ c *Client }

var _ value.Service = Value{}

// Value implements value.Service.
func (v Value) Value(ctx context.Context, query value.Query) (value.Report, error) {
	return call[value.Report](ctx, v.c, http.MethodGet, at("/api/value").with(query), nil)
}
