package episode

import (
	"encoding/json"

	"github.com/skillrouter/skillrouter/learning/shelf"
	"github.com/skillrouter/skillrouter/tfidf"
)

// IndexKind is the kind of the index of episodes.
const IndexKind shelf.IndexKind = "episodes"

// document is what is searched of an episode. The engine's category,
// project and tags hold what episodes are filtered by.
func document(e *Episode) tfidf.Document {
	return tfidf.Document{
		ID: e.ID, Title: e.Title, Body: e.searched(), Category: e.EventType, Project: e.Project, Order: e.Number, At: shelf.Moment(e.CreatedAt),
		Tags: tags(e.AgentID, e.Persona, e.SessionID, e.Event),
	}
}

// Document is what the engine searches of an episode; see knowledge.Document.
func Document(e Episode) tfidf.Document { return document(&e) }

// toldOfEpisodes returns the ids of the episodes that a sweep or a clearing
// deleted. Events of programs that did not write them down do not say.
func toldOfEpisodes(kind string, data []byte) (ids []string, special, ok bool) {
	if kind != EventExperiencesSwept && kind != EventEpisodesCleared {
		return nil, false, true
	}
	var told struct {
		Count int      `json:"count"`
		IDs   []string `json:"ids"`
	}
	if json.Unmarshal(data, &told) != nil || len(told.IDs) != told.Count {
		return nil, true, false
	}
	return told.IDs, true, true
}
