package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/shelf"
	"github.com/skillrouter/skillrouter/router"
	"github.com/skillrouter/skillrouter/router/classify"
	"github.com/skillrouter/skillrouter/router/search"
)

// answer is the router's, beside the notice.
type answer struct {
	router.Answer
	Notice string `json:"notice,omitempty"`
}

// queryTools are the question to all memories.
func queryTools() []tool {
	return []tool{{
		name: "route_query", title: "Ask the Skill Router", effect: reads, walled: true, holds: "query_type items",
		description: "Ask all memories and the team's state in plain words.",
		does:        (*Server).ask, takes: "query! type project limit",
		about: words{"type": oneOf(classify.Classes()...), "project": "", "limit": upTo(router.MaxLimit, router.DefaultLimit)},
	}}
}

func (s *Server) ask(ctx context.Context, q router.Query) (out answer, text string, err error) {
	found, err := s.services.Router.Ask(ctx, q)
	if err == nil {
		out, text = shownAnswer(found)
	}
	return out, text, err
}

func shownAnswer(found router.Answer) (answer, string) {
	out := answer{Answer: found}
	list := entriesOf(&out.Items, itemEntry)
	folds := fitEntries(list)
	f := newFence("Asked: %s (confidence %.2f, from %s).", found.QueryType, found.Confidence, found.Source)
	if found.Miss != nil {
		fmt.Fprintf(f, " Missed: %s.", visible(found.Miss.Reason))
	}
	if len(out.Items) == 0 && found.Summary == "" {
		f.WriteString(" Nothing matches. Try other words, or fewer.")
		return out, f.String()
	}
	out.Notice = notice
	f.explain()
	if found.Summary != "" { // it names tasks and agents in their owners' words
		f.add("In short:", found.Summary)
	}
	f.entries(list, folds)
	return out, f.String()
}

func itemEntry(item *router.Item) entry {
	return entry{texts: []*string{&item.Title, &item.Text}, saying: item.Says(), said: func() (string, []string) {
		var fields string
		if len(item.Fields) > 0 {
			if raw, err := json.Marshal(item.Fields); err == nil {
				fields = check.Head(string(raw), 4<<10)
			}
		}
		label := visible(item.Kind)
		if item.AgentID != "" {
			label += ", " + author(item.AgentID)
		}
		return label, []string{attributes("id", item.ID, "project", item.Project), item.Title, item.Text, fields}
	}}
}

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
