package client

import (
	"context"
	"net/http"

	"skillrouter/learning/feedback"
	"skillrouter/learning/knowledge"
)

// Gaps is feedback.GapService over HTTP.
type Gaps struct{ c *Client }

var _ feedback.GapService = Gaps{}

// List implements feedback.GapService.
func (g Gaps) List(ctx context.Context, query feedback.GapQuery) (feedback.GapPage, error) {
	return call[feedback.GapPage](ctx, g.c, http.MethodGet, at("/api/gaps").with(query), nil)
}

// Gap implements feedback.GapService.
func (g Gaps) Gap(ctx context.Context, id string) (feedback.Gap, error) {
	return g.one(ctx, http.MethodGet, id, "", nil)
}

// Check implements feedback.GapService.
func (g Gaps) Check(ctx context.Context, id string) (feedback.Gap, error) {
	return g.one(ctx, http.MethodPost, id, "/check", nil)
}

// Dismiss implements feedback.GapService.
func (g Gaps) Dismiss(ctx context.Context, id, reason string) (feedback.Gap, error) {
	return g.one(ctx, http.MethodPost, id, "/dismiss", map[string]string{"reason": reason})
}

// Reopen implements feedback.GapService.
func (g Gaps) Reopen(ctx context.Context, id string) (feedback.Gap, error) {
	return g.one(ctx, http.MethodPost, id, "/reopen", nil)
}

func (g Gaps) one(ctx context.Context, method, id, verb string, body any) (feedback.Gap, error) {
	return call[feedback.Gap](ctx, g.c, method, at("/api/gaps/{id}"+verb, id), body)
}

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
