package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"

	"skillrouter/internal/check"
	"skillrouter/learning"
	"skillrouter/router"
	"skillrouter/router/classify"
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
	out.Items = owned(found.Items)
	folds := learning.FoldFound(out.Items) // by the texts as they are
	left := fitItems(out.Items)
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
	addItems(f, out.Items, folds, left)
	return out, f.String()
}

// fitItems shortens items to what an answer may hold, and returns how many bytes of each content were left out.
func fitItems(items []router.Item) []int {
	texts, left := make([][]*string, len(items)), make([]int, len(items))
	for i := range items {
		texts[i], left[i] = []*string{&items[i].Title, &items[i].Text}, len(items[i].Text)
	}
	fitTexts(texts)
	for i := range items {
		left[i] -= len(items[i].Text)
	}
	return left
}

// addItems puts items into the fence.
func addItems(f *fence, items []router.Item, folds []learning.Folded, left []int) {
	for i, one := range folds {
		item := items[one.At]
		var fields string
		if len(item.Fields) > 0 {
			if raw, err := json.Marshal(item.Fields); err == nil {
				fields = check.Head(string(raw), 4<<10)
			}
		}
		label := fmt.Sprintf("%d. %s", i+1, visible(item.Kind))
		if item.AgentID != "" {
			label += ", " + author(item.AgentID)
		}
		f.add(label,
			attributes("id", item.ID, "project", item.Project), item.Title, item.Text, fields, cutNote(left[one.At]), one.Like())
	}
}
