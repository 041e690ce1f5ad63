package httpapi

import (
	"context"

	"skillrouter/learning"
	"skillrouter/learning/knowledge"
)

const knowledgePath = "/api/knowledge"

// Knowledge is the service with what is asked for over HTTP alone.
type Knowledge interface {
	knowledge.Service
	Bulk(ctx context.Context, next func() (knowledge.Draft, error)) (learning.BulkResult, error)
	List(ctx context.Context, filter knowledge.Filter) (knowledge.Page, error)
}
