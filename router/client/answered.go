package client

import (
	"context"
	"net/http"

	"skillrouter/learning/knowledge"
)

// Answered is knowledge.AnswerService over HTTP.
type Answered struct{ c *Client }

var _ knowledge.AnswerService = Answered{}

// Answered implements knowledge.AnswerService.
func (a Answered) Answered(ctx context.Context, id string, use knowledge.AnswerDraft) (knowledge.AnswerLearned, error) {
	return answered[knowledge.AnswerLearned](ctx, a.c, http.MethodPost, id, use)
}

// Questions implements knowledge.AnswerService.
func (a Answered) Questions(ctx context.Context, id string) (knowledge.AnswerList, error) {
	return answered[knowledge.AnswerList](ctx, a.c, http.MethodGet, id, nil)
}

// Unlearn implements knowledge.AnswerService.
func (a Answered) Unlearn(ctx context.Context, id string) (knowledge.AnswersGone, error) {
	return answered[knowledge.AnswersGone](ctx, a.c, http.MethodDelete, id, nil)
}

func answered[T any](ctx context.Context, c *Client, method, id string, body any) (T, error) {
	return call[T](ctx, c, method, at("/api/knowledge/{id}/used", id), body)
}
