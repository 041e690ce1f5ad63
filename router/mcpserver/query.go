package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"

	"skillrouter"
	"skillrouter/router"
	"skillrouter/router/classify"
)

type routeQuery struct {
	Query   string         `json:"query"`
	Type    classify.Class `json:"type"`
	Project string         `json:"project"`
	Limit   int            `json:"limit"`
}

// answer is the router's, beside the notice.
type answer struct {
	router.Answer
	Notice string `json:"notice,omitempty"`
}

func (s *Server) addQueryTool() {
	add(s, tool{
		name: "route_query", title: "Ask the Skill Router", effect: reads,
		description: "Ask anything in plain words: what was learned, what happened, how agents and tasks stand, what scans found.",
		input: arguments(
			required(text("query", "")),
			oneOf("type", "Ask only there", classify.Classes()...),
			text("project", ""),
			upTo("limit", "1–%d, default 10", router.MaxLimit),
		),
		output: holds("query_type", "items"),
	}, s.routeQuery)
}

func (s *Server) routeQuery(ctx context.Context, in routeQuery) (reply[answer], error) {
	found, err := s.services.Router.Ask(ctx, router.Query{
		Query: in.Query, Type: in.Type, Project: in.Project, Limit: in.Limit, AgentID: s.actor(ctx, ""),
	})
	if err != nil {
		return reply[answer]{}, err
	}
	out := answer{Answer: found}
	out.Items = append([]router.Item{}, found.Items...)
	if len(found.Sections) > 0 {
		return s.routeQueries(out)
	}
	left := fitItems(out.Items)
	f := newFence("Asked: %s (confidence %.2f, from %s).", found.QueryType, found.Confidence, found.Source)
	for _, also := range found.Also {
		fmt.Fprintf(f, " Asked too: %s.", also)
	}
	if found.Miss != nil {
		fmt.Fprintf(f, " Missed: %s.", visible(found.Miss.Reason))
	}
	if len(out.Items) == 0 && found.Summary == "" {
		f.WriteString(" Nothing was found. Try other words, or name the place with type.")
		return reply[answer]{out, f.String()}, nil
	}
	out.Notice = notice
	f.explain()
	if found.Summary != "" { // it names tasks and agents in their owners' words
		f.add("In short:", found.Summary)
	}
	addItems(f, out.Items, left)
	return reply[answer]{out, f.String()}, nil
}

// routeQueries renders the answers to several questions in one query.
func (s *Server) routeQueries(out answer) (reply[answer], error) {
	f := newFence("%d questions, each answered on its own.", len(out.Sections))
	out.Sections = append([]router.Section{}, out.Sections...)
	items := []router.Item{}
	var ends []int
	for _, section := range out.Sections {
		items = append(items, section.Items...)
		ends = append(ends, len(items))
	}
	left := fitItems(items)
	out.Notice = notice
	f.explain()
	begin := 0
	for i := range out.Sections {
		section := &out.Sections[i]
		section.Items = items[begin:ends[i]]
		said := fmt.Sprintf("asked: %s (confidence %.2f, from %s)", section.QueryType, section.Confidence, section.Source)
		switch {
		case section.Summary != "":
			said += "\n" + section.Summary
		case len(section.Items) == 0:
			said += "\nNothing was found."
		}
		f.add(fmt.Sprintf("Question %d:", i+1), section.Query, said)
		addItems(f, section.Items, left[begin:ends[i]])
		begin = ends[i]
	}
	out.Items = out.Sections[0].Items
	return reply[answer]{out, f.String()}, nil
}

// fitItems shortens items to what an answer may hold, and says what was left out of each.
func fitItems(items []router.Item) []int {
	var titles, contents []*string
	for i := range items {
		titles, contents = append(titles, &items[i].Title), append(contents, &items[i].Content)
	}
	return fit(titles, contents)
}

// addItems puts items into the fence.
func addItems(f *fence, items []router.Item, left []int) {
	for i, item := range items {
		var fields string
		if len(item.Fields) > 0 {
			if raw, err := json.Marshal(item.Fields); err == nil {
				fields = skillrouter.Head(string(raw), 4<<10)
			}
		}
		label := fmt.Sprintf("%d. %s", i+1, visible(item.Kind))
		if item.AgentID != "" {
			label += ", " + author(item.AgentID)
		}
		f.add(label,
			attributes("id", item.ID, "project", item.Project), item.Title, item.Content, fields, cutNote(left[i]))
	}
}
