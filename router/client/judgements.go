package client

import (
	"context"
	"net/http"

	"skillrouter/learning"
)

// Judgements is learning.JudgementService over HTTP.
type Judgements struct{ c *Client }

var _ learning.JudgementService = Judgements{}

// Judge implements learning.JudgementService.
func (j Judgements) Judge(ctx context.Context, draft learning.JudgementDraft) (learning.Judgement, error) {
	return call[learning.Judgement](ctx, j.c, http.MethodPost, at("/api/judgements"), draft)
}

// Judgements implements learning.JudgementService.
func (j Judgements) Judgements(ctx context.Context, query learning.JudgementQuery) (learning.JudgementPage, error) {
	return call[learning.JudgementPage](ctx, j.c, http.MethodGet, at("/api/judgements").with(query), nil)
}

// Judgement implements learning.JudgementService.
func (j Judgements) Judgement(ctx context.Context, id string) (learning.Judgement, error) {
	return call[learning.Judgement](ctx, j.c, http.MethodGet, at("/api/judgements/{id}", id), nil)
}

// Remove implements learning.JudgementService.
func (j Judgements) Remove(ctx context.Context, id string) error {
	_, err := call[struct{}](ctx, j.c, http.MethodDelete, at("/api/judgements/{id}", id), nil)
	return err
}

// Measure implements learning.JudgementService.
func (j Judgements) Measure(ctx context.Context) (learning.JudgementReport, error) {
	return call[learning.JudgementReport](ctx, j.c, http.MethodPost, at("/api/judgements/measure"), nil)
}
