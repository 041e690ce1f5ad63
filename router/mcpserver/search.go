package mcpserver

import (
	"context"
	"fmt"
	"strings"

	"skillrouter/learning"
	"skillrouter/router"
)

type searchAll struct {
	Query     string   `json:"query"`
	Kinds     []string `json:"kinds"`
	Project   string   `json:"project"`
	Category  string   `json:"category"`
	Tags      []string `json:"tags"`
	AgentID   string   `json:"agent_id"`
	TimeRange string   `json:"time_range"`
	Limit     int      `json:"limit"`
}

// everywhere is what was found, beside the notice.
type everywhere struct {
	router.SearchResults
	Degraded string `json:"degraded,omitempty"` // what the search says of itself
	Notice   string `json:"notice,omitempty"`
}

// addSearchTools offers the search over every memory.
func (s *Server) addSearchTools() {
	add(s, tool{
		name: "search_all", title: "Search every memory", set: ToolsetOperations, effect: reads,
		description: "Find what fits, of any kind, in one list: lessons, knowledge, procedures, facts, tasks, findings, episodes and your own messages. If nothing fits it says what was tried.",
		input: arguments(
			required(text("query", "In plain words, or an error message")),
			texts("kinds", "Only these: "+strings.Join(router.SearchKinds(), ", ")),
			text("project", ""),
			text("category", "A domain, event type, signal, severity or status"),
			texts("tags", "Each must be on it"),
			text("agent_id", "Who wrote it"),
			text("time_range", "Such as 7d or yesterday"),
			integer("limit", "Default 10", 1, router.MaxFound),
		),
		output: holds("results", "count", "kinds"),
	}, s.searchAll)
}

func (s *Server) searchAll(ctx context.Context, in searchAll) (reply[everywhere], error) {
	found, err := s.services.Search.Search(ctx, router.SearchQuery{
		Query: in.Query, Kinds: in.Kinds, Project: in.Project, Category: in.Category, Tags: in.Tags, AgentID: in.AgentID, TimeRange: in.TimeRange, Limit: in.Limit,
	})
	if err != nil {
		return reply[everywhere]{}, err
	}
	out := everywhere{SearchResults: found, Degraded: found.Notice}
	out.SearchResults.Notice = ""
	if found.Count == 0 {
		return reply[everywhere]{out, "Nothing was found." + triedSaid(found.Tried) + corrections(found.Corrected) + degraded(out.Degraded)}, nil
	}
	out.Notice = notice
	f := newFence("Found %s, the likeliest first.%s%s", count(found.Count, "entry", "entries"), corrections(found.Corrected), degraded(out.Degraded))
	f.explain()
	for i, hit := range found.Results {
		f.add(fmt.Sprintf("%d. %s, relevance %.2f, by %s, trust %q", i+1, hit.Kind, hit.Relevance, author(hit.Author), hit.Trust),
			attributes("id", hit.ID, "category", hit.Category, "project", hit.Project), hit.Title, hit.Snippet)
	}
	return reply[everywhere]{out, f.String()}, nil
}

// triedSaid says what was tried where nothing was found. The words are the caller's own.
func triedSaid(tried []learning.Tried) string {
	var said []string
	for _, t := range tried {
		if t.Step == learning.TriedWords {
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
