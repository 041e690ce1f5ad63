package exchange

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"skillrouter/internal/check"
	"skillrouter/learning"
	"skillrouter/learning/episode"
	"skillrouter/learning/experience"
	"skillrouter/learning/knowledge"
	"skillrouter/router"
	"skillrouter/router/transfer"
)

// engramObservation is what an agent saved (engram 1.x, `engram export`).
type engramObservation struct {
	ID        int64   `json:"id"`
	SyncID    string  `json:"sync_id"` // the same on every machine; older exports have none
	SessionID string  `json:"session_id"`
	Type      string  `json:"type"`
	Title     string  `json:"title"`
	Content   string  `json:"content"`
	ToolName  *string `json:"tool_name"`
	Project   *string `json:"project"`
	Scope     string  `json:"scope"`
	TopicKey  *string `json:"topic_key"`
	CreatedAt string  `json:"created_at"`
	UpdatedAt string  `json:"updated_at"`
	DeletedAt *string `json:"deleted_at"`
}

// engramSession is a piece of work.
type engramSession struct {
	ID        string  `json:"id"`
	Project   string  `json:"project"`
	Directory string  `json:"directory"`
	StartedAt string  `json:"started_at"`
	EndedAt   *string `json:"ended_at"`
	Summary   *string `json:"summary"`
}

// engramPrompt is what a person asked.
type engramPrompt struct {
	ID        int64  `json:"id"`
	SyncID    string `json:"sync_id"`
	SessionID string `json:"session_id"`
	Content   string `json:"content"`
	Project   string `json:"project"`
	CreatedAt string `json:"created_at"`
}

// engramFolder is where "engram sync" puts a repository's memories, in packed chunks.
const engramFolder = ".engram"

// isChunk tells whether a file of a repository's folder .engram holds memories.
func isChunk(name string) bool { return strings.HasSuffix(name, ".jsonl.gz") }

// engramCategories are the sidecar's words for engram's types of observations; the others keep their own.
var engramCategories = map[string]string{"bugfix": knowledge.CategoryErrorSolution, "pattern": knowledge.CategoryPattern, "discovery": knowledge.CategoryGotcha}

// readEngram reads the document of `engram export`: observations become
// knowledge, prompts and sessions that have a summary become episodes.
func readEngram(r io.Reader, o Options, yield func(Item) bool) error {
	return newDocument(r).object("this is no export of engram: it is no JSON object", "this is no export of engram: it has neither observations nor sessions nor prompts", map[string]func(place string, text json.RawMessage) bool{
		"observations": each(yield, func(place string, e engramObservation) Item {
			if said(e.DeletedAt) != "" {
				return Item{Place: place, Skipped: true, Refused: "was deleted in engram"}
			}
			return e.item(place, o)
		}),
		"prompts": each(yield, func(place string, p engramPrompt) Item {
			return episodeLine(place, episode.Episode{
				ID: idOf("engram", "prompt", first(p.SyncID, fmt.Sprint(p.ID)), p.CreatedAt), SessionID: p.SessionID, EventType: episode.EventAction,
				Title: "Asked: " + line(fitting(p.Content, 200)), Content: p.Content, Project: p.Project, CreatedAt: moment(p.CreatedAt),
			}, o)
		}),
		"sessions": each(yield, func(place string, s engramSession) Item {
			summary := said(s.Summary)
			if summary == "" {
				return Item{Place: place, Skipped: true, Refused: "is a session without a summary"}
			}
			return episodeLine(place, episode.Episode{
				ID: idOf("engram", "session", s.ID), SessionID: s.ID, EventType: episode.EventOutcome, Title: "Session: " + line(fitting(summary, 200)),
				Content: summary, Project: s.Project, CreatedAt: moment(first(said(s.EndedAt), s.StartedAt)),
			}, o)
		}),
	})
}

func (e engramObservation) item(place string, o Options) Item {
	category := first(engramCategories[e.Type], e.Type)
	topics := []string{"engram", e.Scope, said(e.ToolName), said(e.TopicKey)}
	return knowledgeLine(place, knowledge.Knowledge{
		ID:       idOf("engram", "observation", first(e.SyncID, fmt.Sprint(e.ID, " ", e.CreatedAt))),
		Category: category, Title: e.Title, Content: first(e.Content, e.Title), Tags: topics,
		Source: "engram " + first(e.SyncID, fmt.Sprint(e.ID)) + ", session " + e.SessionID, Project: said(e.Project),
		CreatedAt: moment(e.CreatedAt), UpdatedAt: moment(e.UpdatedAt),
	}, o)
}

// episodeLine makes an episode's item, with the options for what it does not say.
func episodeLine(place string, e episode.Episode, o Options) Item {
	e.Persona, e.Importance = check.DefaultPersona, episode.DefaultImportance
	e.Project, e.AgentID = fitting(first(e.Project, o.Project), check.MaxName), first(e.AgentID, o.Agent)
	e.SessionID = fitting(line(first(e.SessionID, "imported")), check.MaxName)
	e.Title = fitting(line(e.Title), learning.MaxTitle)
	return Item{Place: place, Record: transfer.Record{Kind: router.KindEpisode, Memory: &experience.EpisodeRecord{Episode: e}}}
}

func said(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// layouts are the forms of times that other systems write; those without an offset are in UTC.
var layouts = []string{time.RFC3339Nano, "2006-01-02 15:04:05", "2006-01-02T15:04:05.999999", "2006-01-02T15:04Z07:00", "2006-01-02 15:04", "2006-01-02 15:04:05.999999Z07:00", "2006-01-02 15:04:05 -0700 MST", time.DateOnly}

// moment reads a time; one that cannot be read is none, and the import's counts then.
func moment(text string) time.Time {
	for _, layout := range layouts {
		if t, err := time.Parse(layout, text); err == nil {
			return t
		}
	}
	if n, err := strconv.ParseFloat(text, 64); err == nil && n > 1e8 && n < 1e14 { // since 1970, in seconds or milliseconds
		if n < 1e11 {
			n *= 1000
		}
		return time.UnixMilli(int64(n)).UTC()
	}
	return time.Time{}
}
