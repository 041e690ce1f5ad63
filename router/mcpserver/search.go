package mcpserver

import (
	"fmt"
	"strings"

	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/shelf"
	"github.com/skillrouter/skillrouter/router/search"
)

// searchTools are the search over every memory.
func searchTools() []tool {
	return []tool{{
		name: "search_all", title: "Search every memory", effect: reads, holds: "results count kinds",
		description: "Find what fits, of any kind, in one list: lessons, knowledge, procedures, facts, tasks, findings, episodes and your own messages. If nothing fits it says what was tried.",
		does:        search.Service.Search, takes: "query! kinds project category tags agent_id time_range limit",
		about: words{
			"query": "In plain words, or an error message", "kinds": "Only these: " + strings.Join(search.Kinds(), ", "), "project": "",
			"category": "A domain, event type, signal, severity or status", "tags": "Each must be on it", "agent_id": "Who wrote it",
			"time_range": "Such as 7d or yesterday", "limit": upTo(search.MaxFound, search.DefaultFound),
		},
		said: func(found search.Answer) string {
			how := corrections(found.Corrected) + degraded(found.Notice)
			if len(found.Results) == 0 {
				return "Nothing matches." + repairsText(found.Repairs) + how
			}
			return fmt.Sprintf("Found %s, the likeliest first.%s", count(found.Count, "entry", "entries"), how)
		},
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
