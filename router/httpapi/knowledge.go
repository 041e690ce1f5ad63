package httpapi

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"skillrouter/learning"
)

const knowledgePath = "/api/knowledge"

// entryID is the id of an entry in the path. Any id can be reached: "/" as %2F, "%" as %25.
type entryID struct {
	ID string `path:"id" doc:"The entry's id, percent-encoded as one segment of the path"`
}

// patchInput is a change of an entry.
type patchInput struct {
	entryID
	Body learning.KnowledgePatch
}

// explainInput asks for reasons in the address, for those who search with curl.
type explainInput[Query any] struct {
	Explain bool `query:"explain" doc:"Say why each result was found"`
	Body    Query
}

// listInput selects a page of entries.
type listInput struct {
	Category string `query:"category"`
	Project  string `query:"project"`
	AgentID  string `query:"agent_id" doc:"Only those that this agent wrote"`
	Cursor   string `query:"cursor" doc:"The answer's next of the page before"`
	Limit    int    `query:"limit" doc:"1 to 200; 0: 50"`
}

func (s *Server) knowledgeRoutes() {
	knowledge := s.services.Knowledge
	if knowledge == nil {
		return
	}
	op := func(method, path, summary string) huma.Operation {
		return operation(method, knowledgePath+path, "knowledge", summary)
	}

	store := op(http.MethodPost, "", "Store what was learned; 200 if it was there already or an entry with the id was updated")
	store.DefaultStatus = http.StatusCreated
	register(s, store, func(ctx context.Context, in *struct{ Body learning.KnowledgeDraft }) (*answer[learning.Stored], error) {
		stored, err := knowledge.Store(ctx, in.Body)
		a := &answer[learning.Stored]{Status: http.StatusCreated, Body: stored}
		if stored.Duplicate || stored.Updated {
			a.Status = http.StatusOK
		}
		return a, err
	})
	register(s, op(http.MethodPost, "/search", "Find what fits a question, best first"),
		func(ctx context.Context, in *explainInput[learning.KnowledgeQuery]) (*answer[learning.KnowledgeResults], error) {
			in.Body.Explain = in.Body.Explain || in.Explain
			results, err := knowledge.Search(ctx, in.Body)
			return reply(results), err
		})
	register(s, op(http.MethodGet, "", "List entries, the newest first"),
		func(ctx context.Context, in *listInput) (*answer[learning.KnowledgePage], error) {
			page, err := knowledge.List(ctx, learning.KnowledgeFilter(*in))
			return reply(page), err
		})
	register(s, op(http.MethodGet, "/{id}", "One entry"),
		func(ctx context.Context, in *entryID) (*answer[learning.Knowledge], error) {
			entry, err := knowledge.Entry(ctx, in.ID)
			return reply(entry), err
		})
	register(s, op(http.MethodPut, "/{id}", "Change the fields that are sent"),
		func(ctx context.Context, in *patchInput) (*answer[learning.Knowledge], error) {
			entry, err := knowledge.Update(ctx, in.ID, in.Body)
			return reply(entry), err
		})
	remove := op(http.MethodDelete, "/{id}", "Delete an entry")
	remove.DefaultStatus = http.StatusNoContent
	s.mount(remove, silent(func(ctx context.Context, in *entryID) error {
		return knowledge.Delete(ctx, in.ID)
	}))
	s.bulkRoute(knowledge)
}
