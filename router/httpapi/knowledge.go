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

func (s *Server) knowledgeRoutes(k Knowledge) {
	const id = "The entry's id, percent-encoded as one segment of the path"
	at := s.at("knowledge", knowledgePath)
	at.post("", "Store what was learned; 200 if it was there already or an entry with the id was updated",
		createdIf(sent(k.Store), func(s knowledge.Stored) bool { return !s.Duplicate && !s.Updated }))
	at.post("/search", "Find what fits a question, best first",
		explained(k.Search, func(q *knowledge.Query) *bool { return &q.Explain }))
	at.get("", "List entries, the newest first", asked(k.List))
	at.get("/{id}", "One entry", named(k.Entry).saying(id))
	at.put("/{id}", "Change the fields that are sent", changedBy(k.Update).saying(id))
	at.delete("/{id}", "Delete an entry", named(silent(k.Delete)).saying(id))
	s.bulkRoute(k)
}
