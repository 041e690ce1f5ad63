package web

import (
	"time"

	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning/lesson"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/router"
	"github.com/skillrouter/skillrouter/router/feed"
	"github.com/skillrouter/skillrouter/router/value"
)

const (
	week = 7 * 24 * time.Hour
	// shownMatters is how many rows of the inbox the overview has, and shownLatest how many of what was learned and prevented.
	shownMatters = 6
	shownLatest  = 5
)

// overviewView is what the overview shows. Its blocks are what was learned and prevented.
type overviewView struct {
	Health  *router.Health
	Figures []figure
	Lanes   *lanes
	Matters *table
	More    int  // matters that are not shown
	Fresh   bool // nobody has used the router yet
	detail
}

// figure is a number that leads somewhere, with what it was over time as a line.
type figure struct{ Name, Value, Path, Points, Says string }

func (s *Server) overview(v *visit) (_ any, err error) {
	o, now, project := overviewView{}, s.now().UTC(), v.value("project")
	var lately struct {
		Lessons []lesson.Lesson `json:"lessons"`
		Items   []value.Item    `json:"items"`
	}
	if s.services.Health != nil {
		health := s.services.Health(v.Context())
		o.Health = &health
		o.Fresh = health.Stats["agents"] == 0 && health.Stats["knowledge"] == 0 && health.Stats["lessons"] == 0
	}
	if s.services.Decisions != nil {
		matters, err := s.gathered(v)
		if err != nil {
			return nil, err
		}
		rows := folded(matters)
		o.Matters, o.More = &table{Columns: s.things["matter"].Columns, Rows: rows[:min(len(rows), shownMatters)]}, max(len(rows)-shownMatters, 0)
		since := perPiece(matters, row.at, now, week, 14)
		waits := 0 // a question without an answer holds nobody up, and the navigation counts none
		for _, m := range matters {
			if s.things[m.Kind].Waits.Of != "" {
				waits++
			}
		}
		o.figure("Waits for you", waits, inboxPath, since, "when it began to wait, over seven days")
	}
	if s.services.Timeline != nil {
		var moments []feed.Moment
		if o.Lanes, moments, err = s.lanesOf(v, feed.TimelineQuery{Project: project}); err != nil {
			return nil, err
		}
		online, err := s.online(v)
		if err != nil {
			return nil, err
		}
		events := perPiece(moments, func(m feed.Moment) time.Time { return m.At }, now, lanesReach, 24)
		o.figure("Agents at work", online, link(agentsPath, "state", string(operational.AgentOnline)), events, "events over six hours")
	}
	if s.services.Lessons != nil {
		found, err := s.services.Lessons.List(v.Context(), lesson.Filter{Project: project, Since: now.Add(-week)})
		if err != nil {
			return nil, err
		}
		lately.Lessons = found.Lessons[:min(len(found.Lessons), shownLatest)]
		n := len(found.Lessons)
		if s.services.Memory != nil && project == "" {
			figures, err := s.services.Memory.Figures(v.Context())
			if err != nil {
				return nil, err
			}
			n = figures.ThisWeek
		}
		reported := perPiece(found.Lessons, func(l lesson.Lesson) time.Time { return l.CreatedAt }, now, week, 14)
		o.figure("Learned this week", n, link(memoryPath, "kind", "lesson"), reported, "lessons over seven days")
	}
	if s.services.Value != nil {
		report, err := s.services.Value.Value(v.Context(), value.Query{Project: project})
		if err != nil {
			return nil, err
		}
		lately.Items = report.Items[:min(len(report.Items), shownLatest)]
		var days []int
		for _, day := range report.Days {
			days = append(days, day.Prevented)
		}
		o.figure("Mistakes prevented", report.Total.Prevented, link(overviewPath, "kind", "worth"), days, "by day, over seven days")
	}
	for _, p := range s.things["overview"].Parts {
		if err := s.addPart(v, p, "", lately, nil, &o.detail); err != nil {
			return nil, err
		}
	}
	return o, nil
}

// figure adds a figure.
func (o *overviewView) figure(name string, n int, path string, over []int, says string) {
	o.Figures = append(o.Figures, figure{Name: name, Value: count(n), Path: path, Points: sparkline(over), Says: name + ": " + says})
}

// countOf counts what a place has, for the navigation. What cannot be counted is left out: no page fails for it.
func (s *Server) countOf(v *visit, p *place) int {
	if p.count == nil || v.principal().Need(principal.ScopeRead) != nil || v.Header.Get("Hx-Request") != "" { // of a page that is fetched for a part of it, nobody sees the navigation
		return 0
	}
	n, err := p.count(v)
	if err != nil && v.Context().Err() == nil {
		s.log.DebugContext(v.Context(), "a place could not be counted", "place", p.Name, "error", err)
	}
	return n
}
