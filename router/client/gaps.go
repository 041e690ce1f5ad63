package client

import (
	"context"
	"net/http"

	"skillrouter/learning"
)

// Gaps is learning.GapService over HTTP.
type Gaps struct{ c *Client }

var _ learning.GapService = Gaps{}

// List implements learning.GapService.
func (g Gaps) List(ctx context.Context, query learning.GapQuery) (learning.GapPage, error) {
	return call[learning.GapPage](ctx, g.c, http.MethodGet, at("/api/gaps").with(query), nil)
}

// Gap implements learning.GapService.
func (g Gaps) Gap(ctx context.Context, id string) (learning.Gap, error) {
	return g.one(ctx, http.MethodGet, id, "", nil)
}

// Check implements learning.GapService.
func (g Gaps) Check(ctx context.Context, id string) (learning.Gap, error) {
	return g.one(ctx, http.MethodPost, id, "/check", nil)
}

// Dismiss implements learning.GapService.
func (g Gaps) Dismiss(ctx context.Context, id, reason string) (learning.Gap, error) {
	return g.one(ctx, http.MethodPost, id, "/dismiss", map[string]string{"reason": reason})
}

// Reopen implements learning.GapService.
func (g Gaps) Reopen(ctx context.Context, id string) (learning.Gap, error) {
	return g.one(ctx, http.MethodPost, id, "/reopen", nil)
}

func (g Gaps) one(ctx context.Context, method, id, verb string, body any) (learning.Gap, error) {
	return call[learning.Gap](ctx, g.c, method, at("/api/gaps/{id}"+verb, id), body)
}
