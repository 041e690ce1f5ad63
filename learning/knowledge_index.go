package learning

import (
	"strings"

	"skillrouter/tfidf"
)

// KeptKnowledge is the kind of the index of knowledge, and knowledgeForm the form of its documents.
const (
	KeptKnowledge KeptKind = "knowledge"
	knowledgeForm int      = 2
)

// knowledgeDocument is what is searched of an entry. Tags are words of its
// text too: whoever chose them meant the entry to be found by them.
func knowledgeDocument(e *Knowledge) tfidf.Document {
	body := e.Content
	if len(e.Tags) > 0 {
		body += "\n" + strings.Join(e.Tags, " ")
	}
	return tfidf.Document{ID: e.ID, Title: e.Title, Body: body, Category: e.Category, Project: e.Project, Tags: written(foldTags(e.Tags), e.Author), Order: e.Number, At: moment(e.UpdatedAt)}
}

// KnowledgeDocument is what the engine searches of an entry, for who measures
// the engine beside the database.
func KnowledgeDocument(e Knowledge) tfidf.Document { return knowledgeDocument(&e) }
