package client

import (
	"context"
	"net/http"

	"skillrouter/learning/feedback"
)

// Judgements is feedback.JudgementService over HTTP.
type Judgements struct{ c *Client }

var _ feedback.JudgementService = Judgements{}

// Judge implements feedback.JudgementService.
func (j Judgements) Judge(ctx context.Context, draft feedback.JudgementDraft) (feedback.Judgement, error) {
	return call[feedback.Judgement](ctx, j.c, http.MethodPost, at("/api/judgements"), draft)
}

// Judgements implements feedback.JudgementService.
func (j Judgements) Judgements(ctx context.Context, query feedback.JudgementQuery) (feedback.JudgementPage, error) {
	return call[feedback.JudgementPage](ctx, j.c, http.MethodGet, at("/api/judgements").with(query), nil)
}

// Judgement implements feedback.JudgementService.
func (j Judgements) Judgement(ctx context.Context, id string) (feedback.Judgement, error) {
	return call[feedback.Judgement](ctx, j.c, http.MethodGet, at("/api/judgements/{id}", id), nil)
}

// Remove implements feedback.JudgementService.
func (j Judgements) Remove(ctx context.Context, id string) error {
	_, err := call[struct{}](ctx, j.c, http.MethodDelete, at("/api/judgements/{id}", id), nil)
	return err
}

// Measure implements feedback.JudgementService.
func (j Judgements) Measure(ctx context.Context) (feedback.JudgementReport, error) {
	return call[feedback.JudgementReport](ctx, j.c, http.MethodPost, at("/api/judgements/measure"), nil)
}
