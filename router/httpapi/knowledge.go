package httpapi

import (
	"skillrouter/learning"
)

const knowledgePath = "/api/knowledge"

func (s *Server) knowledgeRoutes() {
	knowledge := s.services.Knowledge
	if knowledge == nil {
		return
	}
	const id = "The entry's id, percent-encoded as one segment of the path"
	at := s.at("knowledge", knowledgePath)
	at.post("", "Store what was learned; 200 if it was there already or an entry with the id was updated",
		createdIf(sent(knowledge.Store), func(s learning.Stored) bool { return !s.Duplicate && !s.Updated }))
	at.post("/search", "Find what fits a question, best first",
		explained(knowledge.Search, func(q *learning.KnowledgeQuery) *bool { return &q.Explain }))
	at.get("", "List entries, the newest first", asked(knowledge.List))
	at.get("/{id}", "One entry", named(knowledge.Entry).saying(id))
	at.put("/{id}", "Change the fields that are sent", changedBy(knowledge.Update).saying(id))
	at.delete("/{id}", "Delete an entry", named(silent(knowledge.Delete)).saying(id))
	s.bulkRoute(knowledge)
}
