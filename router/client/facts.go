package client

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"

	"skillrouter/learning"
	"skillrouter/learning/fact"
)

// Facts is fact.Service over HTTP.
type Facts struct{ c *Client }

var _ fact.Service = Facts{}

// factAt is where a fact is.
func factAt(ref fact.Ref) address {
	return at("/api/facts/{persona}/{key}", cmp.Or(ref.Persona, learning.DefaultPersona), ref.Key)
}

// Remember implements fact.Service.
func (f Facts) Remember(ctx context.Context, draft fact.Draft) (fact.Stored, error) {
	// The place is in the path and not in the body.
	body := struct {
		fact.Draft
		Persona *struct{}       `json:"persona,omitempty"`
		Key     *struct{}       `json:"key,omitempty"`
		Value   json.RawMessage `json:"value,omitempty"`
	}{Draft: draft, Value: draft.Value}
	return call[fact.Stored](ctx, f.c, http.MethodPut, factAt(fact.Ref{Persona: draft.Persona, Key: draft.Key}), body)
}

// Recall implements fact.Service.
func (f Facts) Recall(ctx context.Context, ref fact.Ref) (fact.Fact, error) {
	return call[fact.Fact](ctx, f.c, http.MethodGet, factAt(ref).with(ref), nil)
}

// Update implements fact.Service.
func (f Facts) Update(ctx context.Context, ref fact.Ref, patch fact.Patch) (fact.Fact, error) {
	return call[fact.Fact](ctx, f.c, http.MethodPatch, factAt(ref), patch)
}

// Forget implements fact.Service.
func (f Facts) Forget(ctx context.Context, ref fact.Ref) error {
	return done(ctx, f.c, http.MethodDelete, factAt(ref), nil)
}

// Search implements fact.Service.
func (f Facts) Search(ctx context.Context, query fact.Query) (fact.Page, error) {
	return call[fact.Page](ctx, f.c, http.MethodPost, at("/api/facts/search"), query)
}

// Categories implements fact.Service.
func (f Facts) Categories(ctx context.Context, persona string) ([]fact.Category, error) {
	return list[fact.Category](ctx, f.c, at("/api/facts/categories").and("persona", persona), "categories")
}

// Stats implements fact.Service.
func (f Facts) Stats(ctx context.Context) (fact.Stats, error) {
	return call[fact.Stats](ctx, f.c, http.MethodGet, at("/api/facts/stats"), nil)
}
