package feedback

import (
	"context"
	"time"
)

// QueryFeedback is somebody's word on what kind of question a query to the
// router is. The router gives it its meaning; here it is kept.
type QueryFeedback struct {
	ID        string    `json:"id"`
	Query     string    `json:"query"`         // without secrets
	QueryType string    `json:"query_type"`    // the class that it is, or is not
	Not       bool      `json:"not,omitempty"` // it is not of that class
	Note      string    `json:"note,omitempty"`
	AgentID   string    `json:"agent_id,omitempty"` // who teaches; empty: a captain
	CreatedAt time.Time `json:"created_at"`
}

// QueryFeedbackStore keeps feedback. learning/store implements it on learning.db.
type QueryFeedbackStore interface {
	// AddQueryFeedback stores an entry in place of the same agent's on the same query. Of
	// more than mine of this agent its oldest go; of more than all, the oldest of whoever
	// has most.
	AddQueryFeedback(ctx context.Context, entry QueryFeedback, mine, all int) error
	// QueryFeedback returns what is kept, the oldest first.
	QueryFeedback(ctx context.Context) ([]QueryFeedback, error)
	// DeleteQueryFeedback deletes an entry and tells whether it was there.
	DeleteQueryFeedback(ctx context.Context, id string) (bool, error)
	// ClearQueryFeedback deletes every entry, or those of an agent, and counts them.
	ClearQueryFeedback(ctx context.Context, agentID string) (int64, error)
}
