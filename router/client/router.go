package client

import (
	"context"
	"net/http"

	"skillrouter/router"
	"skillrouter/router/contexts"
	"skillrouter/router/search"
)

// Router is router.Service over HTTP.
type Router struct{ c *Client }

var _ router.Service = Router{}

// Ask implements router.Service.
func (r Router) Ask(ctx context.Context, query router.Query) (router.Answer, error) {
	return call[router.Answer](ctx, r.c, http.MethodPost, at("/query"), query)
}

// Search is search.Service over HTTP.
type Search struct{ c *Client }

var _ search.Service = Search{}

// Search implements search.Service.
func (s Search) Search(ctx context.Context, query search.Query) (search.Answer, error) {
	return call[search.Answer](ctx, s.c, http.MethodPost, at("/api/search"), query)
}

// Context is contexts.Service over HTTP.
type Context struct{ c *Client }

var _ contexts.Service = Context{}

// Build implements contexts.Service.
func (x Context) Build(ctx context.Context, request contexts.Request) (contexts.Context, error) {
	return call[contexts.Context](ctx, x.c, http.MethodPost, at("/api/context"), request)
}

// Introspection is router.IntrospectionService over HTTP.
type Introspection struct{ c *Client }

var _ router.IntrospectionService = Introspection{}

// Categories implements router.IntrospectionService.
func (i Introspection) Categories(ctx context.Context, persona string) (router.MemoryCategories, error) {
	return call[router.MemoryCategories](ctx, i.c, http.MethodGet, at("/api/memory/categories").and("persona", persona), nil)
}

// Stats implements router.IntrospectionService.
func (i Introspection) Stats(ctx context.Context, persona string) (router.MemoryStats, error) {
	return call[router.MemoryStats](ctx, i.c, http.MethodGet, at("/api/memory/stats").and("persona", persona), nil)
}

// IDs implements router.IntrospectionService.
func (i Introspection) IDs(ctx context.Context, memory, part string) (router.MemoryIDs, error) {
	return call[router.MemoryIDs](ctx, i.c, http.MethodGet, at("/api/memory/ids").and("type", memory).and("part", part), nil)
}

// Clear implements router.IntrospectionService.
func (i Introspection) Clear(ctx context.Context, request router.ClearRequest) (router.Cleared, error) {
	return call[router.Cleared](ctx, i.c, http.MethodPost, at("/api/memory/clear"), request)
}
