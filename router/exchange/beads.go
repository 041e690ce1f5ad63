package exchange

import (
	"encoding/json"
	"fmt"
	"io"
	"path"
	"strings"

	"skillrouter/internal/check"
	"skillrouter/learning/knowledge"
	"skillrouter/operational"
	"skillrouter/router"
	"skillrouter/router/transfer"
)

// beadsFolder is where beads keeps a repository's issues.
const beadsFolder = ".beads"

// isIssues tells whether a file of a repository's folder .beads holds its issues. Copies below that are older.
func isIssues(name string) bool {
	base := path.Base(name)
	return (base == "issues.jsonl" || base == "beads.jsonl") && path.Base(path.Dir(name)) != "backup"
}

// issue is a line of beads (bd 0.9 to 1.x): an issue, or a memory of "bd remember".
type issue struct {
	Record string `json:"_type"` // of newer versions; empty: an issue
	Key    string `json:"key"`   // of a memory
	Value  string `json:"value"`

	ID           string   `json:"id"`
	Title        string   `json:"title"`
	Description  string   `json:"description"`
	Design       string   `json:"design"`
	Acceptance   string   `json:"acceptance_criteria"`
	Notes        string   `json:"notes"`
	Status       string   `json:"status"`
	Priority     int      `json:"priority"` // 0 is the most urgent, and 4 the least
	Type         string   `json:"issue_type"`
	Assignee     *string  `json:"assignee"`
	CreatedBy    string   `json:"created_by"`
	CreatedAt    string   `json:"created_at"`
	UpdatedAt    string   `json:"updated_at"`
	ClosedAt     *string  `json:"closed_at"`
	CloseReason  string   `json:"close_reason"`
	DeferUntil   *string  `json:"defer_until"`
	Labels       []string `json:"labels"`
	Dependencies []struct {
		On   string `json:"depends_on_id"`
		Type string `json:"type"`
	} `json:"dependencies"`
	Comments []struct {
		Author string `json:"author"`
		Text   string `json:"text"`
	} `json:"comments"`
}

// readBeads reads the issues of beads: each becomes a task that waits for those that block it.
func readBeads(r io.Reader, o Options, yield func(Item) bool) error {
	return ndjson(r, yield, each(yield, func(place string, i issue) Item {
		switch {
		case i.Record == "memory":
			return knowledgeLine(place, knowledge.Knowledge{
				ID: o.idOf("beads", "memory", i.Key), Title: headline(i.Value), Content: i.Value, Tags: []string{"beads"}, Source: "beads memory " + i.Key,
			}, o)
		case i.Record != "" && i.Record != "issue":
			return Item{Place: place, Skipped: true, Refused: "is no issue"}
		case i.Status == "tombstone":
			return Item{Place: place, Skipped: true, Refused: "was deleted in beads"}
		case i.Type == "message" || i.Type == "event" || i.Type == "agent" || i.Type == "role":
			return Item{Place: place, Skipped: true, Refused: "is no work: its type is " + i.Type}
		case i.ID == "":
			return Item{Place: place, Field: "id", Refused: "is required"}
		}
		task := i.task(o)
		return Item{Place: place, Record: transfer.Record{Kind: router.KindTask, Memory: &task}}
	}))
}

// urgent is the priority of a task for each of those of beads.
var urgent = []int{operational.MaxPriority, operational.MaxPriority / 2, 0, -operational.MaxPriority / 2, -operational.MaxPriority}

func (i issue) task(o Options) operational.Task {
	t := operational.Task{
		ID: o.idOf("beads", i.ID), Title: fitting(line(i.Title), operational.MaxTaskTitle), Project: fitting(o.Project, check.MaxName), Status: operational.TaskPending,
		Priority: urgent[min(max(i.Priority, 0), len(urgent)-1)], CreatedAt: moment(i.CreatedAt), UpdatedAt: moment(first(i.UpdatedAt, i.CreatedAt)),
		CreatedBy: agentOr(i.CreatedBy, o.Agent),
	}
	about := []string{fmt.Sprintf("%s %s of beads", first(i.Type, "issue"), i.ID)}
	if len(i.Labels) > 0 {
		about = append(about, "labels: "+strings.Join(i.Labels, ", "))
	}
	for _, d := range i.Dependencies {
		switch {
		case d.On == "" || d.On == i.ID:
		case d.Type == "" || d.Type == "blocks" || d.Type == "conditional-blocks" || d.Type == "waits-for":
			if id := o.idOf("beads", d.On); len(t.After) < operational.MaxAfter {
				t.After = append(t.After, id)
			}
		case d.Type == "parent-child":
			about = append(about, "part of "+d.On)
		default:
			about = append(about, d.Type+" "+d.On)
		}
	}
	holder := said(i.Assignee)
	switch agent := agentOr(holder, ""); i.Status {
	case "closed":
		closed := moment(first(said(i.ClosedAt), i.UpdatedAt))
		t.Status, t.AgentID, t.Result, t.Progress, t.FinishedAt = operational.TaskCompleted, agent, fitting(i.CloseReason, operational.MaxTaskText), 100, &closed
	case "in_progress", "hooked":
		if agent != "" {
			t.Status, t.AgentID = operational.TaskInProgress, agent
		}
	case "blocked", "deferred":
		t.Status, t.AgentID = operational.TaskBlocked, agent
		t.BlockedReason = strings.TrimSuffix(i.Status+" in beads until "+said(i.DeferUntil), " until ")
	}
	if holder != "" && t.AgentID == "" {
		about = append(about, "assigned to "+holder)
	}
	parts := []string{strings.TrimSpace(i.Description)}
	for _, p := range []struct{ heading, text string }{{"Design", i.Design}, {"Acceptance criteria", i.Acceptance}, {"Notes", i.Notes}} {
		if strings.TrimSpace(p.text) != "" {
			parts = append(parts, "## "+p.heading+"\n\n"+strings.TrimSpace(p.text))
		}
	}
	for _, c := range i.Comments {
		parts = append(parts, first(c.Author, "Comment")+": "+strings.TrimSpace(c.Text))
	}
	t.Description = fitting(strings.Join(append(parts, "("+strings.Join(about, "; ")+")"), "\n\n"), operational.MaxTaskText)
	return t
}

// agentOr is a name as an agent's, and otherwise where it cannot be one.
func agentOr(name, otherwise string) string {
	if name == "" || check.AgentID("agent_id", name) != nil {
		return otherwise
	}
	return name
}

// texts are those of a list, which may stand as JSON within a text.
type texts []string

// UnmarshalJSON implements json.Unmarshaler.
func (l *texts) UnmarshalJSON(text []byte) error {
	*l = nil
	var list []any
	var within string
	switch {
	case json.Unmarshal(text, &list) == nil:
	case json.Unmarshal(text, &within) != nil || strings.TrimSpace(within) == "":
	case json.Unmarshal([]byte(within), &list) != nil:
		list = []any{within}
	}
	for _, one := range list {
		*l = append(*l, fmt.Sprint(one))
	}
	return nil
}
