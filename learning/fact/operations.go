package fact

import "github.com/skillrouter/skillrouter/internal/operation"

const one = "/{persona}/{key}"

// Operations is how the methods of a Service are called from outside.
var Operations = operation.Of("facts", "/api/facts",
	operation.Put(one, "Store a value under a key, over what is there; 200 if a live fact was there", Service.Remember).MakesIf(func(s Stored) bool { return !s.Replaced }),
	operation.Patch(one, "Change the fields that are sent, and let the time to live begin anew", Service.Update),
	operation.Get(one, "The fact under a key; the access is counted", Service.Recall),
	operation.Delete(one, "Delete a fact", Service.Forget),
	operation.Post("/search", "The facts of a persona whose category and key fit, by key", Service.Search).Needs("read"),
	operation.Get("/categories", "The categories of a persona's facts", Service.Categories).Takes("persona").Holds("categories"),
	operation.Get("/stats", "How many facts each persona has, and what readers found since the start", Service.Stats),
)
