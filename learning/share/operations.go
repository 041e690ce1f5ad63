package share

import "github.com/skillrouter/skillrouter/internal/operation"

// Operations is how the methods of a Service are called from outside.
var Operations = operation.Of("shared", "/api/shared",
	operation.Get("", "What is known of the entries that a project shares by its git", Service.Known).Takes("project!").Holds("shared"),
	operation.Post("", "Entries as files of the project's git say them; the client writes the files", Service.Share).Holds("entries"),
	operation.Post("/decide", "Accept or decline what others shared, by its content; for a person", Service.Decide).Holds("outcomes").UpTo(8<<20).Needs("captain"),
)
