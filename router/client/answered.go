package client

import (
	"context"
	"net/http"

	"skillrouter/learning"
)

// Answered is learning.AnswerService over HTTP.
type Answered struct{ c *Client }

var _ learning.AnswerService = Answered{}

// Answered implements learning.AnswerService.
func (a Answered) Answered(ctx context.Context, id string, use learning.AnswerDraft) (learning.AnswerLearned, error) {
	return answered[learning.AnswerLearned](ctx, a.c, http.MethodPost, id, use)
}

// Questions implements learning.AnswerService.
func (a Answered) Questions(ctx context.Context, id string) (learning.AnswerList, error) {
	return answered[learning.AnswerList](ctx, a.c, http.MethodGet, id, nil)
}

// Unlearn implements learning.AnswerService.
func (a Answered) Unlearn(ctx context.Context, id string) (learning.AnswersGone, error) {
	return answered[learning.AnswersGone](ctx, a.c, http.MethodDelete, id, nil)
}

func answered[T any](ctx context.Context, c *Client, method, id string, body any) (T, error) {
	return call[T](ctx, c, method, at("/api/knowledge/{id}/used", id), body)
}
