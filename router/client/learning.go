package client

import (
	"context"
	"net/http"

	"skillrouter/learning/episode"
	"skillrouter/learning/knowledge"
)

// Knowledge is knowledge.Service over HTTP.
type Knowledge struct{ c *Client }

var _ knowledge.Service = Knowledge{}

// Store implements knowledge.Service.
func (k Knowledge) Store(ctx context.Context, draft knowledge.Draft) (knowledge.Stored, error) {
	return call[knowledge.Stored](ctx, k.c, http.MethodPost, at("/api/knowledge"), draft)
}

// Entry implements knowledge.Service.
func (k Knowledge) Entry(ctx context.Context, id string) (knowledge.Knowledge, error) {
	return k.one(ctx, http.MethodGet, id, nil)
}

// Update implements knowledge.Service.
func (k Knowledge) Update(ctx context.Context, id string, patch knowledge.Patch) (knowledge.Knowledge, error) {
	return k.one(ctx, http.MethodPut, id, patch)
}

// Delete implements knowledge.Service.
func (k Knowledge) Delete(ctx context.Context, id string) error {
	return done(ctx, k.c, http.MethodDelete, at("/api/knowledge/{id}", id), nil)
}

// List returns a page of entries, the newest first.
func (k Knowledge) List(ctx context.Context, filter knowledge.Filter) (knowledge.Page, error) {
	return call[knowledge.Page](ctx, k.c, http.MethodGet, at("/api/knowledge").with(filter), nil)
}

// Search implements knowledge.Service.
func (k Knowledge) Search(ctx context.Context, query knowledge.Query) (knowledge.Results, error) {
	return call[knowledge.Results](ctx, k.c, http.MethodPost, at("/api/knowledge/search"), query)
}

func (k Knowledge) one(ctx context.Context, method, id string, in any) (knowledge.Knowledge, error) {
	return call[knowledge.Knowledge](ctx, k.c, method, at("/api/knowledge/{id}", id), in)
}

// Episodes is episode.Service over HTTP.
type Episodes struct{ c *Client }

var _ episode.Service = Episodes{}

// Record implements episode.Service.
func (e Episodes) Record(ctx context.Context, draft episode.Draft) (episode.Episode, error) {
	return call[episode.Episode](ctx, e.c, http.MethodPost, at("/api/episodes"), draft)
}

// Recent implements episode.Service.
func (e Episodes) Recent(ctx context.Context, filter episode.Filter) ([]episode.Episode, error) {
	return list[episode.Episode](ctx, e.c, at("/api/episodes/recent").with(filter), "episodes")
}

// Search implements episode.Service.
func (e Episodes) Search(ctx context.Context, query episode.Query) (episode.Results, error) {
	return call[episode.Results](ctx, e.c, http.MethodPost, at("/api/episodes/search"), query)
}

// Episode implements episode.Service.
func (e Episodes) Episode(ctx context.Context, ref string) (episode.Episode, error) {
	return call[episode.Episode](ctx, e.c, http.MethodGet, at("/episodes/{id}", ref), nil)
}

// Edit implements episode.Service.
func (e Episodes) Edit(ctx context.Context, ref string, patch episode.Patch) (episode.Episode, error) {
	return call[episode.Episode](ctx, e.c, http.MethodPatch, at("/episodes/{id}", ref), patch)
}

// Delete implements episode.Service.
func (e Episodes) Delete(ctx context.Context, ref string) error {
	return done(ctx, e.c, http.MethodDelete, at("/episodes/{id}", ref), nil)
}
