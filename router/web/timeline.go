package web

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"skillrouter/operational"
	"skillrouter/router/feed"
)

const (
	timelinePath = "/ui/timeline"
	// latestMoments is how many moments the overview shows, and an agent's page.
	latestMoments = 20
	// replayed is how many steps of a session its page shows; the rest is on the timeline.
	replayed = feed.MaxMoments
)

func (s *Server) timelinePages() {
	if s.services.Timeline == nil {
		return
	}
	s.page(timelinePath, "timeline.html", "What happened", s.timeline)
	s.section(operations, "What happened", timelinePath)
}

// timelineView is what the page of the timeline shows.
type timelineView struct {
	Moments        []feed.Moment
	Agent, Project string
	Kinds, Ranges  []option
	pager
}

// ranges are the stretches of time that the page offers.
var ranges = []option{{Value: "1h", Name: "the last hour"}, {Value: "today", Name: "today"}, {Value: "yesterday", Name: "yesterday"}, {Value: "7d", Name: "7 days"}, {Value: "30d", Name: "30 days"}}

func (s *Server) timeline(v *visit) (any, error) {
	query := feed.TimelineQuery{Agent: v.value("agent"), Project: v.value("project"), Range: v.value("range"), Before: v.value("before"), Limit: pageRows}
	kind := v.value("kind")
	if kind != "" {
		query.Kinds = []string{kind}
	}
	found, err := s.services.Timeline.Timeline(v.context(), query)
	if err != nil {
		return nil, err
	}
	page := timelineView{
		Moments: found.Moments, Agent: query.Agent, Project: query.Project, Kinds: options("everything", kind, feed.MomentKinds()),
		Ranges: []option{{Name: "any time", Chosen: query.Range == ""}},
		pager:  v.turns("before", found.Next, query.Before != "", "Newest", "Older"),
	}
	for _, one := range ranges {
		one.Chosen = one.Value == query.Range
		page.Ranges = append(page.Ranges, one)
	}
	if !slices.ContainsFunc(page.Ranges, func(o option) bool { return o.Chosen }) { // of a link
		page.Ranges = append(page.Ranges, option{Value: query.Range, Name: query.Range, Chosen: true})
	}
	return page, nil
}

// latest are the newest moments that a query selects.
func (s *Server) latest(v *visit, query feed.TimelineQuery) ([]feed.Moment, error) {
	if s.services.Timeline == nil {
		return nil, nil
	}
	query.Limit = latestMoments
	found, err := s.services.Timeline.Timeline(v.context(), query)
	return found.Moments, err
}

// replay are the steps of a session in their order, and whether there were more before them.
func (s *Server) replay(v *visit, session operational.Session) (steps []feed.Moment, more bool, err error) {
	if s.services.Timeline == nil {
		return nil, false, nil
	}
	found, err := s.services.Timeline.Timeline(v.context(), feed.TimelineQuery{Agent: session.AgentID, Range: s.rangeOf(session), Limit: replayed})
	slices.Reverse(found.Moments)
	return found.Moments, found.Next != "", err
}

// rangeOf is the stretch of time of a session, as a timeline is asked for it.
func (s *Server) rangeOf(session operational.Session) string {
	end := s.now().UTC().Add(time.Second)
	if session.EndedAt != nil {
		end = session.EndedAt.Add(time.Second) // its end is the last step
	}
	return session.StartedAt.Format(time.RFC3339Nano) + ".." + end.Format(time.RFC3339Nano)
}

// momentPath is where a moment leads: to what it is about.
func momentPath(m feed.Moment) string {
	switch m.About {
	case "task", "lesson", "pattern", "message", "session", "agent":
		return link("/ui/"+m.About, "id", m.Subject)
	case "knowledge", "episode", "fact", "procedure":
		return memoryPath(m.About, m.Subject)
	case "check":
		return link("/ui/guard/ledger", "agent", m.Agent) + "#check-" + url.QueryEscape(m.Subject)
	case "approval", "permission":
		return "/ui/guard/approvals#" + m.About + "-" + url.QueryEscape(m.Subject)
	case "rule":
		return link("/ui/guard/ledger", "rule", m.Subject)
	case "escalation":
		return "/ui/escalations#escalation-" + url.QueryEscape(m.Subject)
	case "proposal":
		return "/ui/proposals#proposal-" + url.QueryEscape(m.Subject)
	case "transcript":
		return "/ui/proposals"
	case "reminder":
		return "/ui/reminders#reminder-" + url.QueryEscape(m.Subject)
	}
	return ""
}

// toldPath is where a memory leads that an agent was told.
func toldPath(item operational.ToldItem) string {
	switch item.Kind {
	case "lesson", "principle", "pattern", "task", "session":
		if strings.Contains(item.ID, ":") { // a rule that came with the router, or of a pack: it has no lesson
			return link("/ui/guard/ledger", "rule", item.ID)
		}
		return link("/ui/"+strings.Replace(item.Kind, "principle", "lesson", 1), "id", item.ID)
	case "rule", "guard": // of a lesson, of a pattern, or of neither
		return link("/ui/guard/ledger", "rule", item.ID)
	case "knowledge", "episode", "fact", "procedure", "incident":
		return memoryPath(item.Kind, item.ID)
	}
	return ""
}
