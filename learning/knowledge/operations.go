package knowledge

import (
	"context"

	"github.com/skillrouter/skillrouter/internal/operation"
)

const anEntry = "The entry's id, percent-encoded as one segment of the path"

// Lister lists entries, which no agent needs who can search.
type Lister interface {
	List(ctx context.Context, filter Filter) (Page, error)
}

// Operations is how the methods of a Service and a Lister are called from outside.
var Operations = operation.Of("knowledge", "/api/knowledge",
	operation.Post("", "Store what was learned; 200 if it was there already or an entry with the id was updated", Service.Store).
		MakesIf(func(s Stored) bool { return !s.Duplicate && !s.Updated }).Keeps(),
	operation.Post("/search", "Find what fits a question, best first", Service.Search).Needs("read").Keeps(),
	operation.Get("", "List entries, the newest first", Lister.List).Keeps(),
	operation.Get("/{id}", "One entry", Service.Entry).Named(anEntry).Keeps(),
	operation.Put("/{id}", "Change the fields that are sent", Service.Update).Named(anEntry).Keeps(),
	operation.Delete("/{id}", "Delete an entry", Service.Delete).Named(anEntry).Keeps(),
)
