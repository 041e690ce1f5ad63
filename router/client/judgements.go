package client

import (
	"context"
	"net/http"

	"skillrouter/learning"
)

const judgementsPath = "/api/judgements"

// Judgements is learning.JudgementService over HTTP.
type Judgements struct{ c *Client }

var _ learning.JudgementService = Judgements{}

// Judge implements learning.JudgementService.
func (j Judgements) Judge(ctx context.Context, draft learning.JudgementDraft) (learning.Judgement, error) {
	return call[learning.Judgement](ctx, j.c, http.MethodPost, judgementsPath, nil, draft)
}

// Judgements implements learning.JudgementService.
func (j Judgements) Judgements(ctx context.Context, query learning.JudgementQuery) (learning.JudgementPage, error) {
	return call[learning.JudgementPage](ctx, j.c, http.MethodGet, judgementsPath, values(
		"project", query.Project, "cursor", query.Cursor, "limit", query.Limit,
	), nil)
}

// Judgement implements learning.JudgementService.
func (j Judgements) Judgement(ctx context.Context, id string) (learning.Judgement, error) {
	escaped, err := segment("id", id)
	if err != nil {
		return learning.Judgement{}, err
	}
	return call[learning.Judgement](ctx, j.c, http.MethodGet, judgementsPath+"/"+escaped, nil, nil)
}

// Remove implements learning.JudgementService.
func (j Judgements) Remove(ctx context.Context, id string) error {
	escaped, err := segment("id", id)
	if err != nil {
		return err
	}
	_, err = call[struct{}](ctx, j.c, http.MethodDelete, judgementsPath+"/"+escaped, nil, nil)
	return err
}

// Measure implements learning.JudgementService.
func (j Judgements) Measure(ctx context.Context) (learning.JudgementReport, error) {
	return call[learning.JudgementReport](ctx, j.c, http.MethodPost, judgementsPath+"/measure", nil, nil)
}
