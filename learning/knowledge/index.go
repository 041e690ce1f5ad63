package knowledge

import (
	"strings"

	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/shelf"
	"github.com/skillrouter/skillrouter/tfidf"
)

// IndexKind is the kind of the index of knowledge.
const IndexKind shelf.IndexKind = "knowledge"

// document is what is searched of an entry. Tags are words of its
// text too: whoever chose them meant the entry to be found by them.
func document(e *Knowledge) tfidf.Document {
	body := e.Content
	if len(e.Tags) > 0 {
		body += "\n" + strings.Join(e.Tags, " ")
	}
	return tfidf.Document{ID: e.ID, Title: e.Title, Body: body, Category: e.Category, Project: e.Project, Tags: shelf.Written(learning.FoldTags(e.Tags), e.Author), Order: e.Number, At: shelf.Moment(e.UpdatedAt)}
}

// Document is what the engine searches of an entry, for who measures
// the engine beside the database.
func Document(e Knowledge) tfidf.Document { return document(&e) }
