package learning

import (
	"strings"

	"skillrouter/tfidf"
)

// KeptProcedures is the kind of the index of procedures, and procedureForm the form of its documents.
const (
	KeptProcedures KeptKind = "procedures"
	procedureForm  int      = 2
)

// proceduresAtOnce is how many procedures are read by their ids at a time: so
// few that their texts fit into one answer of the store, whatever they say.
const proceduresAtOnce = 8

// procedureDocument is what is searched of a procedure. The engine's tag holds
// the persona, which procedures are filtered by.
func procedureDocument(s *StoredProcedure) tfidf.Document {
	var body strings.Builder
	for _, step := range s.Body.Steps {
		for _, text := range []string{step.Name, step.Description, step.Action, step.Run} {
			if text != "" {
				body.WriteString(text + "\n")
			}
		}
	}
	return tfidf.Document{
		ID: ProcedureID(s.Persona, s.Name), Title: s.Name + ": " + s.Body.Description, Body: body.String(),
		Category: s.Body.Category, Tags: written([]string{s.Persona}, s.Author), Order: s.Number, At: moment(s.UpdatedAt),
	}
}
