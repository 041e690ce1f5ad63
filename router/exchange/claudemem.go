package exchange

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"skillrouter/learning/episode"
	"skillrouter/learning/knowledge"
)

// claudeMem is a row of claude-mem (4 to 13): of its export, or of a table of its database.
type claudeMem struct {
	ID              int64       `json:"id"`
	Project         string      `json:"project"`
	CreatedAt       string      `json:"created_at"`
	Epoch           json.Number `json:"created_at_epoch"` // in milliseconds
	MemorySession   string      `json:"memory_session_id"`
	SDKSession      string      `json:"sdk_session_id"` // as older versions call it
	ContentSession  string      `json:"content_session_id"`
	ClaudeSession   string      `json:"claude_session_id"` // as older versions call it
	Type            string      `json:"type"`              // of an observation, and what follows
	Title, Subtitle string
	Text, Narrative string
	Facts, Concepts texts
	FilesRead       texts  `json:"files_read"`
	FilesModified   texts  `json:"files_modified"`
	Request         string `json:"request"` // of a summary, and what follows
	Investigated    string
	Learned         string
	Completed       string
	NextSteps       string `json:"next_steps"`
	Notes           string
	Prompt          string `json:"prompt_text"`   // of what a person asked
	Number          int64  `json:"prompt_number"` // in its session
	Content         string `json:"content"`       // of a directive
	Status          string `json:"status"`
}

// claudeMemTables are what claude-mem's database has of the lists in its export, and what stands in for it.
var claudeMemTables = []Table{
	{"sessions", "SELECT * FROM sdk_sessions ORDER BY id"},
	{"observations", "SELECT * FROM observations ORDER BY id"},
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
			var s claudeMem
			if json.Unmarshal(text, &s) == nil {
				projects[first(s.ContentSession, s.ClaudeSession)] = s.Project
			}
			return true
		},
		"observations": each(yield, func(place string, m claudeMem) Item { return m.observation(place, o) }),
		"summaries": each(yield, func(place string, m claudeMem) Item {
			content := sectionsOf([][2]string{
				{"Investigated", m.Investigated}, {"Learned", m.Learned}, {"Completed", m.Completed}, {"Next steps", m.NextSteps}, {"Notes", m.Notes},
			})
			if content == "" {
				return Item{Place: place, Skipped: true, Refused: "is a summary without words"}
			}
			return episodeLine(place, episode.Episode{
				ID: m.id("summary"), SessionID: m.session(), EventType: episode.EventOutcome, Title: "Session: " + line(fitting(first(m.Request, m.Completed, content), 200)),
				Content: content, Learned: m.Learned, Project: m.Project, CreatedAt: m.at(),
			}, o)
		}),
		"prompts": each(yield, func(place string, m claudeMem) Item {
			session := first(m.ContentSession, m.ClaudeSession)
			return episodeLine(place, episode.Episode{
				ID: idOf("claude-mem", "prompt", session, fmt.Sprint(m.Number)), SessionID: session, EventType: episode.EventAction,
				Title: "Asked: " + line(fitting(m.Prompt, 200)), Content: m.Prompt, Project: first(m.Project, projects[session]), CreatedAt: m.at(),
			}, o)
		}),
		"directives": each(yield, func(place string, m claudeMem) Item {
			if m.Status != "active" {
				return Item{Place: place, Skipped: true, Refused: "is a directive that is " + first(m.Status, "not active")}
			}
			return knowledgeLine(place, knowledge.Knowledge{
				ID: m.id("directive"), Category: knowledge.CategoryBestPractice, Title: headline(m.Content), Content: m.Content, Project: m.Project,
				Tags: []string{"claude-mem", "directive"}, Source: fmt.Sprint("claude-mem directive ", m.ID), CreatedAt: m.at(),
			}, o)
		}),
	})
}

func (m claudeMem) observation(place string, o Options) Item {
	facts := ""
	if len(m.Facts) > 0 {
		facts = "- " + strings.Join(m.Facts, "\n- ")
	}
	files := strings.Join(tags(m.FilesModified, m.FilesRead), ", ")
	content := sectionsOf([][2]string{{"", m.Subtitle}, {"", first(m.Narrative, m.Text)}, {"", facts}})
	if content = first(content, m.Title); content == "" {
		return Item{Place: place, Field: "narrative", Refused: "is required, or text, title or facts"}
	}
	return knowledgeLine(place, knowledge.Knowledge{
		ID: m.id("observation"), Category: first(claudeMemCategories[m.Type], m.Type), Title: m.Title, Content: sectionsOf([][2]string{{"", content}, {"Files", files}}),
		Tags: append([]string{"claude-mem"}, m.Concepts...), Source: fmt.Sprintf("claude-mem observation %d, session %s", m.ID, m.session()),
		Project: m.Project, CreatedAt: m.at(),
	}, o)
}

// id is the same for the same row of an export and of the database it is from, as claude-mem itself tells rows apart.
func (m claudeMem) id(what string) string {
	return idOf("claude-mem", what, m.session(), first(m.Title, m.Request, m.Content), first(m.Epoch.String(), m.CreatedAt))
}

func (m claudeMem) at() time.Time { return moment(first(m.Epoch.String(), m.CreatedAt)) }

func (m claudeMem) session() string {
	return first(m.MemorySession, m.SDKSession, m.ContentSession, m.ClaudeSession)
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
