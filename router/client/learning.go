package client

import (
	"context"
	"net/http"

	"skillrouter/learning"
)

// Knowledge is learning.KnowledgeService over HTTP.
type Knowledge struct{ c *Client }

var _ learning.KnowledgeService = Knowledge{}

// Store implements learning.KnowledgeService.
func (k Knowledge) Store(ctx context.Context, draft learning.KnowledgeDraft) (learning.Stored, error) {
	return call[learning.Stored](ctx, k.c, http.MethodPost, at("/api/knowledge"), draft)
}

// Entry implements learning.KnowledgeService.
func (k Knowledge) Entry(ctx context.Context, id string) (learning.Knowledge, error) {
	return k.one(ctx, http.MethodGet, id, nil)
}

// Update implements learning.KnowledgeService.
func (k Knowledge) Update(ctx context.Context, id string, patch learning.KnowledgePatch) (learning.Knowledge, error) {
	return k.one(ctx, http.MethodPut, id, patch)
}

// Delete implements learning.KnowledgeService.
func (k Knowledge) Delete(ctx context.Context, id string) error {
	_, err := call[struct{}](ctx, k.c, http.MethodDelete, at("/api/knowledge/{id}", id), nil)
	return err
}

// Search implements learning.KnowledgeService.
func (k Knowledge) Search(ctx context.Context, query learning.KnowledgeQuery) (learning.KnowledgeResults, error) {
	return call[learning.KnowledgeResults](ctx, k.c, http.MethodPost, at("/api/knowledge/search"), query)
}

func (k Knowledge) one(ctx context.Context, method, id string, in any) (learning.Knowledge, error) {
	return call[learning.Knowledge](ctx, k.c, method, at("/api/knowledge/{id}", id), in)
}

// Episodes is learning.EpisodeService over HTTP.
type Episodes struct{ c *Client }

var _ learning.EpisodeService = Episodes{}

// Record implements learning.EpisodeService.
func (e Episodes) Record(ctx context.Context, draft learning.EpisodeDraft) (learning.Episode, error) {
	return call[learning.Episode](ctx, e.c, http.MethodPost, at("/api/episodes"), draft)
}

// Recent implements learning.EpisodeService.
func (e Episodes) Recent(ctx context.Context, filter learning.EpisodeFilter) ([]learning.Episode, error) {
	return list[learning.Episode](ctx, e.c, at("/api/episodes/recent").with(filter), "episodes")
}

// Search implements learning.EpisodeService.
func (e Episodes) Search(ctx context.Context, query learning.EpisodeQuery) (learning.EpisodeResults, error) {
	return call[learning.EpisodeResults](ctx, e.c, http.MethodPost, at("/api/episodes/search"), query)
}
