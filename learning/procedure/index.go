package procedure

import (
	"strings"

	"github.com/skillrouter/skillrouter/learning/shelf"
	"github.com/skillrouter/skillrouter/tfidf"
)

// IndexKind is the kind of the index of procedures.
const IndexKind shelf.IndexKind = "procedures"

// proceduresAtOnce is how many procedures are read by their ids at a time: so
// few that their texts fit into one answer of the store, whatever they say.
const proceduresAtOnce = 8

// document is what is searched of a procedure. The engine's tag holds
// the persona, which procedures are filtered by.
func document(s *Stored) tfidf.Document {
	var body strings.Builder
	for _, step := range s.Body.Steps {
		for _, text := range []string{step.Name, step.Description, step.Action, step.Run} {
			if text != "" {
				body.WriteString(text + "\n")
			}
		}
	}
	return tfidf.Document{
		ID: ID(s.Persona, s.Name), Title: s.Name + ": " + s.Body.Description, Body: body.String(),
		Category: s.Body.Category, Tags: shelf.Written([]string{s.Persona}, s.Author), Order: s.Number, At: shelf.Moment(s.UpdatedAt),
	}
}
