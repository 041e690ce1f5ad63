package httpapi

import (
	"context"
	"net/http"

	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/knowledge"
)

const knowledgePath = "/api/knowledge"

// Knowledge is the service with what is asked for over HTTP alone.
type Knowledge interface {
	knowledge.Service
	Bulk(ctx context.Context, next func() (knowledge.Draft, error)) (learning.BulkResult, error)
	List(ctx context.Context, filter knowledge.Filter) (knowledge.Page, error)
}

// maxEntry bounds one entry of a bulk call, in bytes of JSON: the largest
// content, half of it escaped.
const maxEntry = 2 << 20

// bulkProblem is the answer to a bulk call that was broken off: the stream is
// stored as it comes in, and so it also says what was stored.
type bulkProblem struct {
	*Problem
	learning.BulkResult
}

func (s *Server) bulkRoute(k Knowledge) {
	op := documented(http.MethodPost, knowledgePath+"/bulk", "knowledge", "Store many entries, sent as a JSON array or as one JSON object a line")
	op.Description = "The body is stored while it arrives; its length is not bounded, a record's is. Records that are refused are listed and stop nothing, up to 10,000. " +
		"If the body is broken off or malformed, or the disk gets full, the problem that is answered also has the counts: what was stored before stays stored."
	bulk[knowledge.Draft, learning.BulkResult, bulkProblem]{
		op: op, need: principal.ScopeAgent, record: maxEntry,
		store: func(ctx context.Context, from *records[knowledge.Draft]) (learning.BulkResult, error) {
			return k.Bulk(ctx, from.next)
		},
		broken: func(p *Problem, result learning.BulkResult) bulkProblem { return bulkProblem{p, result} },
	}.mount(s)
}
