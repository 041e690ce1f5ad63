package client

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"

	"skillrouter/learning"
)

// Facts is learning.FactService over HTTP.
type Facts struct{ c *Client }

var _ learning.FactService = Facts{}

// factAt is where a fact is.
func factAt(ref learning.FactRef) address {
	return at("/api/facts/{persona}/{key}", cmp.Or(ref.Persona, learning.DefaultPersona), ref.Key)
}

// Remember implements learning.FactService.
func (f Facts) Remember(ctx context.Context, draft learning.FactDraft) (learning.FactStored, error) {
	// The place is in the path and not in the body.
	body := struct {
		learning.FactDraft
		Persona *struct{}       `json:"persona,omitempty"`
		Key     *struct{}       `json:"key,omitempty"`
		Value   json.RawMessage `json:"value,omitempty"`
	}{FactDraft: draft, Value: draft.Value}
	return call[learning.FactStored](ctx, f.c, http.MethodPut, factAt(learning.FactRef{Persona: draft.Persona, Key: draft.Key}), body)
}

// Recall implements learning.FactService.
func (f Facts) Recall(ctx context.Context, ref learning.FactRef) (learning.Fact, error) {
	return call[learning.Fact](ctx, f.c, http.MethodGet, factAt(ref).with(ref), nil)
}

// Update implements learning.FactService.
func (f Facts) Update(ctx context.Context, ref learning.FactRef, patch learning.FactPatch) (learning.Fact, error) {
	return call[learning.Fact](ctx, f.c, http.MethodPatch, factAt(ref), patch)
}

// Forget implements learning.FactService.
func (f Facts) Forget(ctx context.Context, ref learning.FactRef) error {
	_, err := call[struct{}](ctx, f.c, http.MethodDelete, factAt(ref), nil)
	return err
}

// Search implements learning.FactService.
func (f Facts) Search(ctx context.Context, query learning.FactQuery) (learning.FactPage, error) {
	return call[learning.FactPage](ctx, f.c, http.MethodPost, at("/api/facts/search"), query)
}

// Categories implements learning.FactService.
func (f Facts) Categories(ctx context.Context, persona string) ([]learning.FactCategory, error) {
	return list[learning.FactCategory](ctx, f.c, at("/api/facts/categories").and("persona", persona), "categories")
}

// Stats implements learning.FactService.
func (f Facts) Stats(ctx context.Context) (learning.FactStats, error) {
	return call[learning.FactStats](ctx, f.c, http.MethodGet, at("/api/facts/stats"), nil)
}

// Lease implements learning.FactCache. The client's time limit must leave room for the waiting.
func (f Facts) Lease(ctx context.Context, request learning.CacheRequest) (learning.CacheAnswer, error) {
	return call[learning.CacheAnswer](ctx, f.c, http.MethodPost, at("/api/facts/cache"), request)
}

// Complete implements learning.FactCache.
func (f Facts) Complete(ctx context.Context, result learning.CacheResult) (learning.CacheStored, error) {
	return call[learning.CacheStored](ctx, f.c, http.MethodPost, at("/api/facts/cache/complete"), result)
}

// Renew implements learning.FactCache.
func (f Facts) Renew(ctx context.Context, lease learning.LeaseRef) error {
	_, err := call[struct{}](ctx, f.c, http.MethodPost, at("/api/facts/cache/renew"), lease)
	return err
}

// Release implements learning.FactCache.
func (f Facts) Release(ctx context.Context, lease learning.LeaseRef) error {
	_, err := call[struct{}](ctx, f.c, http.MethodPost, at("/api/facts/cache/release"), lease)
	return err
}
