package exchange

import (
	"encoding/json"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/episode"
	"github.com/skillrouter/skillrouter/learning/experience"
	"github.com/skillrouter/skillrouter/learning/knowledge"
	"github.com/skillrouter/skillrouter/router"
	"github.com/skillrouter/skillrouter/router/transfer"
)

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
		"observations": each(yield, func(place string, t thing) Item {
			if t.text("deleted_at") != "" {
				return Item{Place: place, Skipped: true, Refused: "was deleted in engram"}
			}
			if t.text("content", "title") == "" {
				return Item{Place: place, Field: "content", Refused: "is required"}
			}
			kind, known := t.text("type"), t.text("sync_id", "id") // a sync_id is the same on every machine; older exports have none
			return knowledgeLine(place, knowledge.Knowledge{
				ID: idOf("engram", "observation", first(t.text("sync_id"), t.text("id")+" "+t.text("created_at"))), Category: first(engramCategories[kind], kind),
				Title: t.text("title"), Content: t.text("content", "title"), Tags: []string{"engram", t.text("scope"), t.text("tool_name"), t.text("topic_key")},
				Source: "engram " + known + ", session " + t.text("session_id"), Project: t.text("project"), CreatedAt: t.at("created_at"), UpdatedAt: t.at("updated_at"),
			}, o)
		}),
		"prompts": each(yield, func(place string, t thing) Item {
			content := t.text("content")
			return episodeLine(place, episode.Episode{
				ID: idOf("engram", "prompt", t.text("sync_id", "id"), t.text("created_at")), SessionID: t.text("session_id"), EventType: episode.EventAction,
				Title: "Asked: " + line(fitting(content, 200)), Content: content, Project: t.text("project"), CreatedAt: t.at("created_at"),
			}, o)
		}),
		"sessions": each(yield, func(place string, t thing) Item {
			summary, id := t.text("summary"), t.text("id")
			if summary == "" {
				return Item{Place: place, Skipped: true, Refused: "is a session without a summary"}
			}
			return episodeLine(place, episode.Episode{
				ID: idOf("engram", "session", id), SessionID: id, EventType: episode.EventOutcome, Title: "Session: " + line(fitting(summary, 200)),
				Content: summary, Project: t.text("project"), CreatedAt: t.at("ended_at", "started_at"),
			}, o)
		}),
	})
}

// episodeLine makes an episode's item, with the options for what it does not say.
func episodeLine(place string, e episode.Episode, o Options) Item {
	e.Persona, e.Importance = check.DefaultPersona, episode.DefaultImportance
	e.Project, e.AgentID = fitting(first(e.Project, o.Project), check.MaxName), first(e.AgentID, o.Agent)
	e.SessionID = fitting(line(first(e.SessionID, "imported")), check.MaxName)
	e.Title = fitting(line(e.Title), learning.MaxTitle)
	return Item{Place: place, Record: transfer.Record{Kind: router.KindEpisode, Memory: &experience.EpisodeRecord{Episode: e}}}
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
