package exchange

import (
	"encoding/json"
	"io"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/learning/episode"
	"github.com/skillrouter/skillrouter/learning/knowledge"
)

// claudeMemTables are what claude-mem's database has of the lists in its export, and what stands in for it.
var claudeMemTables = []Table{
	{"sessions", "SELECT * FROM sdk_sessions ORDER BY id"},
	{"observations", "SELECT * FROM observations ORDER BY id"},
	{"observations", "SELECT * FROM memories ORDER BY id"}, // before version 4
	{"summaries", "SELECT * FROM session_summaries ORDER BY id"},
	{"prompts", "SELECT * FROM user_prompts ORDER BY id"},
	{"directives", "SELECT * FROM directives ORDER BY id"},
}

// claudeMemCategories are the words here for the types of observations; the others keep their own.
var claudeMemCategories = map[string]string{"bugfix": knowledge.CategoryErrorSolution, "discovery": knowledge.CategoryGotcha}

// readClaudeMem reads claude-mem's export, or its database as one: observations and directives become knowledge, summaries
// and prompts become episodes.
func readClaudeMem(r io.Reader, o Options, yield func(Item) bool) error {
	projects := map[string]string{} // of sessions: a prompt does not name its own
	return newDocument(r).object("this is no export of claude-mem: it is no JSON object", "this is nothing of claude-mem: it has neither observations nor summaries nor prompts", map[string]func(place string, text json.RawMessage) bool{
		"sessions": func(_ string, text json.RawMessage) bool {
			var t thing
			if json.Unmarshal(text, &t) == nil {
				projects[t.text("content_session_id", "claude_session_id")] = claudeMemProject(t)
			}
			return true
		},
		"observations": each(yield, func(place string, t thing) Item { return claudeMemObservation(place, t, o) }),
		"summaries": each(yield, func(place string, t thing) Item {
			learned, completed := t.text("learned"), t.text("completed")
			content := sectionsOf([][2]string{
				{"Investigated", t.text("investigated")}, {"Learned", learned}, {"Completed", completed}, {"Next steps", t.text("next_steps")}, {"Notes", t.text("notes")},
			})
			if content == "" {
				return Item{Place: place, Skipped: true, Refused: "is a summary without words"}
			}
			return episodeLine(place, episode.Episode{
				ID: claudeMemID("summary", t), SessionID: claudeMemSession(t), EventType: episode.EventOutcome,
				Title: "Session: " + line(fitting(first(t.text("request"), completed, content), 200)), Content: content, Learned: learned, Project: claudeMemProject(t), CreatedAt: claudeMemTime(t),
			}, o)
		}),
		"prompts": each(yield, func(place string, t thing) Item {
			session, text := t.text("content_session_id", "claude_session_id"), t.text("prompt_text")
			return episodeLine(place, episode.Episode{
				ID: idOf("claude-mem", "prompt", session, t.text("prompt_number")), SessionID: session, EventType: episode.EventAction,
				Title: "Asked: " + line(fitting(text, 200)), Content: text, Project: first(t.text("project"), projects[session]), CreatedAt: claudeMemTime(t),
			}, o)
		}),
		"directives": each(yield, func(place string, t thing) Item {
			content, status := t.text("content"), t.text("status")
			if status != "active" {
				return Item{Place: place, Skipped: true, Refused: "is a directive that is " + first(status, "not active")}
			}
			return knowledgeLine(place, knowledge.Knowledge{
				ID: claudeMemID("directive", t), Category: knowledge.CategoryBestPractice, Title: headline(content), Content: content, Project: claudeMemProject(t),
				Tags: []string{"claude-mem", "directive"}, Source: "claude-mem directive " + t.text("id"), CreatedAt: claudeMemTime(t),
			}, o)
		}),
	})
}

func claudeMemObservation(place string, t thing, o Options) Item {
	facts, title, kind := t.texts("facts"), t.text("title"), t.text("type")
	content := sectionsOf([][2]string{{"", t.text("subtitle")}, {"", t.text("narrative", "text")}, {"", strings.TrimPrefix(strings.Join(append([]string{""}, facts...), "\n- "), "\n")}})
	if content = first(content, title); content == "" {
		return Item{Place: place, Field: "narrative", Refused: "is required, or text, title or facts"}
	}
	files := strings.Join(tags(t.texts("files_modified"), t.texts("files_read"), t.texts("files_touched")), ", ")
	return knowledgeLine(place, knowledge.Knowledge{
		ID: claudeMemID("observation", t), Category: first(claudeMemCategories[kind], kind), Title: title, Content: sectionsOf([][2]string{{"", content}, {"Files", files}}),
		Tags: append([]string{"claude-mem"}, t.texts("concepts")...), Source: "claude-mem observation " + t.text("id") + ", session " + claudeMemSession(t),
		Project: claudeMemProject(t), CreatedAt: claudeMemTime(t),
	}, o)
}

// claudeMemID is the same for the same row of an export and of the database it is from, as claude-mem itself tells rows apart.
func claudeMemID(what string, t thing) string {
	return idOf("claude-mem", what, claudeMemSession(t), t.text("title", "request", "content"), t.text("created_at_epoch", "created_at"))
}

// claudeMemTime is when a row was written: the epoch is in milliseconds.
func claudeMemTime(t thing) time.Time { return t.at("created_at_epoch", "created_at") }

// claudeMemProject is the project that a row belongs to. That of a worktree is merged into its repository's.
func claudeMemProject(t thing) string { return t.text("merged_into_project", "project") }

// claudeMemSession is a row's session, as each version calls it.
func claudeMemSession(t thing) string {
	return t.text("memory_session_id", "sdk_session_id", "content_session_id", "claude_session_id", "session_id")
}

// sectionsOf joins texts that say something, each behind its name.
func sectionsOf(parts [][2]string) string {
	var all []string
	for _, p := range parts {
		if text := strings.TrimSpace(p[1]); text != "" {
			all = append(all, strings.TrimPrefix(p[0]+": "+text, ": "))
		}
	}
	return strings.Join(all, "\n\n")
}
