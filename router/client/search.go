package client

import (
	"context"
	"net/http"

	"skillrouter/router"
)

// Search is router.SearchService over HTTP.
type Search struct{ c *Client }

var _ router.SearchService = Search{}

// Search implements router.SearchService.
func (s Search) Search(ctx context.Context, query router.SearchQuery) (router.SearchResults, error) {
	return call[router.SearchResults](ctx, s.c, http.MethodPost, at("/api/search"), query)
}
