package learning

import (
	"encoding/json"
	"fmt"

	"skillrouter/tfidf"
)

// KeptDocuments are what is searched of one row of each kind, with the number of its form.
func KeptDocuments(k Knowledge, e Episode, l Lesson, p StoredProcedure) map[KeptKind]string {
	out := map[KeptKind]string{}
	for kind, doc := range map[KeptKind]tfidf.Document{
		KeptKnowledge: knowledgeDocument(k), KeptEpisodes: episodeDocument(e), KeptLessons: lessonDocument(&l), KeptProcedures: procedureDocument(p),
	} {
		text, err := json.Marshal(doc)
		out[kind] = fmt.Sprint(keptForms[kind], " ", string(text), err)
	}
	return out
}
