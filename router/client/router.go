package client

import (
	"context"
	"net/http"

	"skillrouter/router"
)

// Router is router.Service over HTTP.
type Router struct{ c *Client }

var _ router.Service = Router{}

// Ask implements router.Service.
func (r Router) Ask(ctx context.Context, query router.Query) (router.Answer, error) {
	return call[router.Answer](ctx, r.c, http.MethodPost, at("/query"), query)
}

var _ router.FeedbackService = Router{}

// Teach implements router.FeedbackService.
func (r Router) Teach(ctx context.Context, draft router.FeedbackDraft) (router.FeedbackTaught, error) {
	return call[router.FeedbackTaught](ctx, r.c, http.MethodPost, at("/query/feedback"), draft)
}

// Feedback implements router.FeedbackService.
func (r Router) Feedback(ctx context.Context) (router.FeedbackList, error) {
	return call[router.FeedbackList](ctx, r.c, http.MethodGet, at("/query/feedback"), nil)
}

// Unteach implements router.FeedbackService.
func (r Router) Unteach(ctx context.Context, id string) error {
	_, err := call[struct{}](ctx, r.c, http.MethodDelete, at("/query/feedback/{id}", id), nil)
	return err
}

// UnteachAll implements router.FeedbackService.
func (r Router) UnteachAll(ctx context.Context, agentID string) (router.FeedbackGone, error) {
	return call[router.FeedbackGone](ctx, r.c, http.MethodDelete, at("/query/feedback").and("agent_id", agentID), nil)
}
