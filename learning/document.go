package learning

import "skillrouter/tfidf"

// KnowledgeDocument is what the engine searches of an entry, for who measures
// the engine beside the database.
func KnowledgeDocument(e Knowledge) tfidf.Document { return knowledgeDocument(e) }

// EpisodeDocument is what the engine searches of an episode; see KnowledgeDocument.
func EpisodeDocument(e Episode) tfidf.Document { return episodeDocument(e) }
