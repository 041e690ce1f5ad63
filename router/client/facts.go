package client

import (
	"context"
	"encoding/json"
	"net/http"

	"skillrouter/learning"
)

// Facts is learning.FactService over HTTP.
type Facts struct{ c *Client }

var _ learning.FactService = Facts{}

// factPath is where a fact is.
func factPath(ref learning.FactRef) (string, error) {
	if ref.Persona == "" {
		ref.Persona = learning.DefaultPersona
	}
	persona, err := segment("persona", ref.Persona)
	if err != nil {
		return "", err
	}
	key, err := segment("key", ref.Key)
	return "/api/facts/" + persona + "/" + key, err
}

// Remember implements learning.FactService.
func (f Facts) Remember(ctx context.Context, draft learning.FactDraft) (learning.FactStored, error) {
	path, err := factPath(learning.FactRef{Persona: draft.Persona, Key: draft.Key})
	if err != nil {
		return learning.FactStored{}, err
	}
	// The place is in the path and not in the body.
	body := struct {
		learning.FactDraft
		Persona *struct{}       `json:"persona,omitempty"`
		Key     *struct{}       `json:"key,omitempty"`
		Value   json.RawMessage `json:"value,omitempty"`
	}{FactDraft: draft, Value: draft.Value}
	return call[learning.FactStored](ctx, f.c, http.MethodPut, path, nil, body)
}

// Recall implements learning.FactService.
func (f Facts) Recall(ctx context.Context, ref learning.FactRef) (learning.Fact, error) {
	path, err := factPath(ref)
	if err != nil {
		return learning.Fact{}, err
	}
	return call[learning.Fact](ctx, f.c, http.MethodGet, path, values("stale_ok", ref.StaleOK), nil)
}

// Update implements learning.FactService.
func (f Facts) Update(ctx context.Context, ref learning.FactRef, patch learning.FactPatch) (learning.Fact, error) {
	path, err := factPath(ref)
	if err != nil {
		return learning.Fact{}, err
	}
	return call[learning.Fact](ctx, f.c, http.MethodPatch, path, nil, patch)
}

// Forget implements learning.FactService.
func (f Facts) Forget(ctx context.Context, ref learning.FactRef) error {
	path, err := factPath(ref)
	if err != nil {
		return err
	}
	_, err = call[struct{}](ctx, f.c, http.MethodDelete, path, nil, nil)
	return err
}

// Search implements learning.FactService.
func (f Facts) Search(ctx context.Context, query learning.FactQuery) (learning.FactPage, error) {
	return call[learning.FactPage](ctx, f.c, http.MethodPost, "/api/facts/search", nil, query)
}

// Categories implements learning.FactService.
func (f Facts) Categories(ctx context.Context, persona string) ([]learning.FactCategory, error) {
	type listing struct {
		Categories []learning.FactCategory `json:"categories"`
	}
	list, err := call[listing](ctx, f.c, http.MethodGet, "/api/facts/categories", values("persona", persona), nil)
	return list.Categories, err
}

// Stats implements learning.FactService.
func (f Facts) Stats(ctx context.Context) (learning.FactStats, error) {
	return call[learning.FactStats](ctx, f.c, http.MethodGet, "/api/facts/stats", nil, nil)
}

// Lease implements learning.FactCache. The client's time limit must leave room for the waiting.
func (f Facts) Lease(ctx context.Context, request learning.CacheRequest) (learning.CacheAnswer, error) {
	return call[learning.CacheAnswer](ctx, f.c, http.MethodPost, "/api/facts/cache", nil, request)
}

// Complete implements learning.FactCache.
func (f Facts) Complete(ctx context.Context, result learning.CacheResult) (learning.CacheStored, error) {
	return call[learning.CacheStored](ctx, f.c, http.MethodPost, "/api/facts/cache/complete", nil, result)
}

// Renew implements learning.FactCache.
func (f Facts) Renew(ctx context.Context, lease learning.LeaseRef) error {
	_, err := call[struct{}](ctx, f.c, http.MethodPost, "/api/facts/cache/renew", nil, lease)
	return err
}

// Release implements learning.FactCache.
func (f Facts) Release(ctx context.Context, lease learning.LeaseRef) error {
	_, err := call[struct{}](ctx, f.c, http.MethodPost, "/api/facts/cache/release", nil, lease)
	return err
}
