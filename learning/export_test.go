package learning

import (
	"encoding/json"
	"fmt"

	"skillrouter/tfidf"
)

// KeptDocuments are what is searched of one row of each kind, with the number of its form.
func KeptDocuments(k Knowledge, e Episode, l Lesson, p StoredProcedure) map[KeptKind]string {
	out := map[KeptKind]string{}
	for kind, row := range map[KeptKind]struct {
		form int
		doc  tfidf.Document
	}{
		KeptKnowledge: {knowledgeForm, knowledgeDocument(&k)}, KeptEpisodes: {episodeForm, episodeDocument(&e)},
		KeptLessons: {lessonForm, lessonDocument(&l)}, KeptProcedures: {procedureForm, procedureDocument(&p)},
	} {
		text, err := json.Marshal(row.doc)
		out[kind] = fmt.Sprint(row.form, " ", string(text), err)
	}
	return out
}
