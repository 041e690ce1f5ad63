package client

import (
	"context"
	"net/http"

	"skillrouter/learning/verdict"
)

// Verdicts is verdict.Service over HTTP.
type Verdicts struct{ c *Client }

var _ verdict.Service = Verdicts{}

// Answered implements verdict.Service.
func (v Verdicts) Answered(ctx context.Context, id string, draft verdict.Draft) (verdict.Learned, error) {
	return used[verdict.Learned](ctx, v.c, http.MethodPost, id, draft)
}

// Questions implements verdict.Service.
func (v Verdicts) Questions(ctx context.Context, id string) (verdict.List, error) {
	return used[verdict.List](ctx, v.c, http.MethodGet, id, nil)
}

// Unlearn implements verdict.Service.
func (v Verdicts) Unlearn(ctx context.Context, id string) (verdict.Gone, error) {
	return used[verdict.Gone](ctx, v.c, http.MethodDelete, id, nil)
}

func used[T any](ctx context.Context, c *Client, method, id string, body any) (T, error) {
	return call[T](ctx, c, method, at("/api/knowledge/{id}/used", id), body)
}

// Gaps implements verdict.Service.
func (v Verdicts) Gaps(ctx context.Context, query verdict.GapQuery) (verdict.GapPage, error) {
	return call[verdict.GapPage](ctx, v.c, http.MethodGet, at("/api/gaps").with(query), nil)
}

// Dismiss implements verdict.Service.
func (v Verdicts) Dismiss(ctx context.Context, id string) error {
	return done(ctx, v.c, http.MethodDelete, at("/api/gaps/{id}", id), nil)
}
