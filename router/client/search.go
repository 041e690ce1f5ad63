package client

import (
	"context"
	"net/http"

	"skillrouter/router/search"
)

// Search is search.Service over HTTP.
type Search struct{ c *Client }

var _ search.Service = Search{}

// Search implements search.Service.
func (s Search) Search(ctx context.Context, query search.Query) (search.Answer, error) {
	return call[search.Answer](ctx, s.c, http.MethodPost, at("/api/search"), query)
}
