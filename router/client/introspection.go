package client

import (
	"context"
	"net/http"

	"skillrouter/router"
)

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

// Clear implements router.IntrospectionService.
func (i Introspection) Clear(ctx context.Context, request router.ClearRequest) (router.Cleared, error) {
	return call[router.Cleared](ctx, i.c, http.MethodPost, at("/api/memory/clear"), request)
}
