package mcpserver

import (
	"fmt"
	"strings"

	"skillrouter/learning"
	"skillrouter/learning/shelf"
	"skillrouter/router/search"
)

// everywhere is what was found, beside the notice.
type everywhere struct {
	search.Answer
	Degraded string `json:"degraded,omitempty"` // what the search says of itself
	Notice   string `json:"notice,omitempty"`
}

// addSearchTools offers the search over every memory.
func (s *Server) addSearchTools() {
	add(s, tool{
		name: "search_all", title: "Search every memory", set: ToolsetOperations, effect: reads, holds: "results count kinds",
		description: "Find what fits, of any kind, in one list: lessons, knowledge, procedures, facts, tasks, findings, episodes and your own messages. If nothing fits it says what was tried.",
	}, func(p *params, q *search.Query) {
		p.must("query", &q.Query, "In plain words, or an error message")
		p.may("kinds", &q.Kinds, "Only these: "+strings.Join(search.Kinds(), ", "))
		p.may("project", &q.Project, "")
		p.here(&q.PreferProject)
		p.may("category", &q.Category, "A domain, event type, signal, severity or status")
		p.may("tags", &q.Tags, "Each must be on it")
		p.may("agent_id", &q.AgentID, "Who wrote it")
		p.may("time_range", &q.TimeRange, "Such as 7d or yesterday")
		p.limit(&q.Limit, search.DefaultFound, search.MaxFound)
	}, then(s.services.Search.Search, func(found search.Answer) (everywhere, string) {
		out := everywhere{Answer: found, Degraded: found.Notice}
		out.Answer.Notice = ""
		how := corrections(found.Corrected) + degraded(out.Degraded)
		f := listing(out.Results, &out.Notice, foundEntry, "Nothing matches."+repairsText(found.Repairs)+how,
			"Found %s, the likeliest first.%s", count(found.Count, "entry", "entries"), how)
		return out, f.String()
	}))
}

func foundEntry(hit *search.Hit) entry {
	return entry{nil, func(int) (string, []string) {
		return fmt.Sprintf("%s, relevance %.2f, by %s, trust %q", hit.Kind, hit.Relevance, author(hit.Author), hit.Trust),
			[]string{attributes("id", hit.ID, "category", hit.Category, "project", hit.Project), hit.Title, hit.Snippet}
	}}
}

// repairsText says what was tried where nothing was found. The words are the caller's own.
func repairsText(repairs []learning.Repair) string {
	var said []string
	for _, t := range repairs {
		if t.Step == shelf.RepairWords {
			said = append(said, t.Detail)
			continue
		}
		said = append(said, fmt.Sprintf("%s: %d found", t.Detail, t.Found))
	}
	if len(said) == 0 {
		return ""
	}
	return " Tried: " + visible(strings.Join(said, "; ")) + "."
}
