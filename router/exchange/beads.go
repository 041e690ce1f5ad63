package exchange

import (
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/learning/knowledge"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/router"
	"github.com/skillrouter/skillrouter/router/transfer"
)

// beadsFolder is where beads keeps a repository's issues.
const beadsFolder = ".beads"

// isIssues tells whether a file of a repository's folder .beads holds its issues. Copies below that are older.
func isIssues(name string) bool {
	base := path.Base(name)
	return (base == "issues.jsonl" || base == "beads.jsonl") && path.Base(path.Dir(name)) != "backup"
}

// readBeads reads the issues of beads: each becomes a task that waits for those that block it.
func readBeads(r io.Reader, o Options, yield func(Item) bool) error {
	return ndjson(r, yield, each(yield, func(place string, t thing) Item {
		switch record, kind, id := t.text("_type"), t.text("issue_type"), t.text("id"); {
		case record == "memory": // of "bd remember"
			key, value := t.text("key"), t.text("value")
			return knowledgeLine(place, knowledge.Knowledge{
				ID: o.idOf("beads", "memory", key), Title: headline(value), Content: value, Tags: []string{"beads"}, Source: "beads memory " + key,
			}, o)
		case record != "" && record != "issue": // newer versions say it
			return Item{Place: place, Skipped: true, Refused: "is no issue"}
		case t.text("status") == "tombstone":
			return Item{Place: place, Skipped: true, Refused: "was deleted in beads"}
		case kind == "message" || kind == "event" || kind == "agent" || kind == "role":
			return Item{Place: place, Skipped: true, Refused: "is no work: its type is " + kind}
		case id == "":
			return Item{Place: place, Field: "id", Refused: "is required"}
		}
		task := beadsTask(t, o)
		return Item{Place: place, Record: transfer.Record{Kind: router.KindTask, Memory: &task}}
	}))
}

// urgent is the priority of a task for each of those of beads, of which 0 is the most urgent.
var urgent = []int{operational.MaxPriority, operational.MaxPriority / 2, 0, -operational.MaxPriority / 2, -operational.MaxPriority}

// beadsTask is an issue of beads (bd 0.9 to 1.x) as a task.
func beadsTask(i thing, o Options) operational.Task {
	issue, status := i.text("id"), i.text("status")
	t := operational.Task{
		ID: o.idOf("beads", issue), Title: fitting(line(i.text("title")), operational.MaxTaskTitle), Project: fitting(o.Project, check.MaxName), Status: operational.TaskPending,
		Priority: urgent[min(max(i.number("priority"), 0), int64(len(urgent)-1))], CreatedAt: i.at("created_at"), UpdatedAt: i.at("updated_at", "created_at"),
		CreatedBy: agentOr(i.text("created_by"), o.Agent),
	}
	about := []string{fmt.Sprintf("%s %s of beads", first(i.text("issue_type"), "issue"), issue)}
	if labels := i.texts("labels"); len(labels) > 0 {
		about = append(about, "labels: "+strings.Join(labels, ", "))
	}
	for _, d := range i.things("dependencies") {
		switch on, kind := d.text("depends_on_id"), d.text("type"); {
		case on == "" || on == issue:
		case kind == "" || kind == "blocks" || kind == "conditional-blocks" || kind == "waits-for":
			if id := o.idOf("beads", on); len(t.After) < operational.MaxAfter {
				t.After = append(t.After, id)
			}
		case kind == "parent-child":
			about = append(about, "part of "+on)
		default:
			about = append(about, kind+" "+on)
		}
	}
	holder := i.text("assignee")
	switch agent := agentOr(holder, ""); status {
	case "closed":
		closed := i.at("closed_at", "updated_at")
		t.Status, t.AgentID, t.Result, t.Progress, t.FinishedAt = operational.TaskCompleted, agent, fitting(i.text("close_reason"), operational.MaxTaskText), 100, &closed
	case "in_progress", "hooked":
		if agent != "" {
			t.Status, t.AgentID = operational.TaskInProgress, agent
		}
	case "blocked", "deferred":
		t.Status, t.AgentID = operational.TaskBlocked, agent
		t.BlockedReason = strings.TrimSuffix(status+" in beads until "+i.text("defer_until"), " until ")
	}
	if holder != "" && t.AgentID == "" {
		about = append(about, "assigned to "+holder)
	}
	parts := []string{strings.TrimSpace(i.text("description"))}
	for _, p := range []struct{ heading, text string }{{"Design", i.text("design")}, {"Acceptance criteria", i.text("acceptance_criteria")}, {"Notes", i.text("notes")}} {
		if p.text != "" {
			parts = append(parts, "## "+p.heading+"\n\n"+strings.TrimSpace(p.text))
		}
	}
	for _, c := range i.things("comments") {
		parts = append(parts, first(c.text("author"), "Comment")+": "+strings.TrimSpace(c.text("text")))
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
