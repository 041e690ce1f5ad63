package episode

import "github.com/skillrouter/skillrouter/internal/operation"

const anEpisode = "The episode's id, percent-encoded as one segment of the path, or its number"

// Operations is how the methods of a Service are called from outside.
var Operations = operation.With(
	operation.Of("episodes", "/api/episodes",
		operation.Post("", "Record what happened", Service.Record).Makes().Shaped("").Keeps(),
		operation.Get("/recent", "The latest episodes, newest first", Service.Recent).Holds("episodes").Keeps(),
		operation.Post("/search", "Find past episodes, best first", Service.Search).Needs("read").Keeps(),
	),
	operation.Of("episodes", "/episodes",
		operation.Get("/{id}", "One episode", Service.Episode).Named(anEpisode).Keeps(),
		operation.Patch("/{id}", "Change the fields that are sent", Service.Edit).Named(anEpisode).Keeps(),
		operation.Delete("/{id}", "Delete an episode; what was learned from it stays", Service.Delete).Named(anEpisode).Keeps(),
	),
)
