package web

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"time"

	"skillrouter/internal/errs"
	"skillrouter/internal/principal"
	"skillrouter/learning/lesson"
	"skillrouter/operational"
	"skillrouter/router"
	"skillrouter/router/feed"
	"skillrouter/router/value"
)

const (
	week = 7 * 24 * time.Hour
	// shownMatters is how many rows of the inbox the overview has, and shownLatest how many of what was learned and prevented.
	shownMatters = 6
	shownLatest  = 5
	// lanesReach is how far back the overview's lanes reach.
	lanesReach = 6 * time.Hour
)

// overviewView is what the page at / shows: the overview, or with kind=worth what the memory is worth.
type overviewView struct {
	Health    *Health
	Figures   []figure
	Lanes     *lanes
	Matters   *table
	More      int // matters that are not shown
	Learned   *table
	Prevented *table
	Fresh     bool // nobody has used the router yet
	Worth     *worthView
}

// figure is a number that leads somewhere, with what it was over time as a line.
type figure struct{ Name, Value, Path, Points, Says string }

func (s *Server) overview(v *visit) (any, error) {
	if v.value("kind") == "worth" && s.services.Value != nil {
		worth, err := s.worth(v)
		return overviewView{Worth: worth}, err
	}
	o, now, project := overviewView{}, s.now().UTC(), v.value("project")
	if s.services.Health != nil {
		health := s.services.Health(v.Context())
		o.Health = &health
		o.Fresh = health.Stats["agents"] == 0 && health.Stats["knowledge"] == 0 && health.Stats["lessons"] == 0
	}
	matters, err := s.gathered(v)
	if err != nil {
		return nil, err
	}
	if s.services.Decisions != nil {
		var since []time.Time
		for _, m := range matters {
			since = append(since, m.at)
		}
		rows := folded(matters)
		o.Matters, o.More = &table{Caption: "Waits for you", Columns: inboxColumns, Rows: rows[:min(len(rows), shownMatters)]}, max(len(rows)-shownMatters, 0)
		for i := range o.Matters.Rows {
			o.Matters.Rows[i].Pick = ""
		}
		o.figure("Waits for you", len(matters), inboxPath, perPiece(since, now, week, 14), "when it began to wait, over seven days")
	}
	if s.services.Timeline != nil {
		var moments []feed.Moment
		if o.Lanes, moments, err = s.lanesOf(v, feed.TimelineQuery{Project: project}, lanesReach); err != nil {
			return nil, err
		}
		online, err := s.online(v)
		if err != nil {
			return nil, err
		}
		var times []time.Time
		for _, m := range moments {
			times = append(times, m.At)
		}
		o.figure("Agents at work", online, link(agentsPath, "state", string(operational.AgentOnline)), perPiece(times, now, lanesReach, 24), "events over six hours")
	}
	if s.services.Lessons != nil {
		if err := s.learnedLately(v, &o, now); err != nil {
			return nil, err
		}
	}
	if s.services.Value != nil {
		if err := s.preventedLately(v, &o); err != nil {
			return nil, err
		}
	}
	return o, nil
}

// figure adds a figure.
func (o *overviewView) figure(name string, n int, path string, over []int, says string) {
	o.Figures = append(o.Figures, figure{Name: name, Value: count(n), Path: path, Points: sparkline(over), Says: name + ": " + says})
}

// learnedLately adds the lessons of the last week and the latest of them.
func (s *Server) learnedLately(v *visit, o *overviewView, now time.Time) error {
	found, err := s.services.Lessons.List(v.Context(), lesson.Filter{Project: v.value("project"), Since: now.Add(-week)})
	if err != nil {
		return err
	}
	var times []time.Time
	for _, l := range found.Lessons {
		times = append(times, l.CreatedAt)
	}
	n := len(found.Lessons)
	if s.services.Memory != nil && v.value("project") == "" {
		figures, err := s.services.Memory.Figures(v.Context())
		if err != nil {
			return err
		}
		n = figures.ThisWeek
	}
	o.figure("Learned this week", n, link(memoryPath, "kind", "lesson"), perPiece(times, now, week, 14), "lessons over seven days")
	o.Learned = plainTable("Lesson | t;Confidence | w88 n x;Age | w56 n")
	for _, l := range found.Lessons[:min(n, len(found.Lessons), shownLatest)] {
		o.Learned.add(head(pathOf("lesson", l.ID), l.Title, ""), text(percent(l.Confidence)), at(l.CreatedAt))
	}
	return nil
}

// preventedLately adds the mistakes that were prevented in seven days, and by what.
func (s *Server) preventedLately(v *visit, o *overviewView) error {
	report, err := s.services.Value.Value(v.Context(), value.Query{Project: v.value("project")})
	if err != nil {
		return err
	}
	var days []int
	for _, day := range report.Days {
		days = append(days, day.Prevented)
	}
	path := link(overviewPath, "kind", "worth")
	o.figure("Mistakes prevented", report.Total.Prevented, path, days, "by day, over seven days")
	o.Prevented = plainTable("Memory | t;Told | w56 n;Used | w56 n;Prevented | w88 n")
	for _, item := range report.Items[:min(len(report.Items), shownLatest)] {
		o.Prevented.add(head(s.itemPath(v, item), cmp.Or(item.Title, item.ID), ""), text(count(item.Shown)), text(count(item.Used)), text(count(item.Prevented)))
	}
	return nil
}

// itemPath is the page of what was told, on which a person can take it out of use.
func (s *Server) itemPath(v *visit, item value.Item) string {
	if item.Kind == router.KindGuard && s.services.Guard != nil {
		if rule, err := s.services.Guard.Rule(v.Context(), item.ID); err == nil && rule.LessonID != "" {
			return pathOf("lesson", rule.LessonID)
		}
	}
	return toldPath(operational.ToldItem{Kind: item.Kind, ID: item.ID})
}

// worthView is what the memory is worth: what came of telling it to agents.
type worthView struct {
	value.Report
	Spans                []option // Value is the path
	Points               string   // what was told by day, as a line
	ByDay, Moments, Rows *table
}

// spans are how many days the page offers.
var spans = []int{value.DefaultDays, 30, 90}

// worthColumns and worthCells are the figures of what was told, behind a first column.
const worthColumns = " | t;Told | w72 n;Outcome known | w104 n x;Used | w72 n;Prevented | w88 n;Repeated | w88 n x;Tokens | w88 n x"

func worthCells(c operational.ToldCounts) (cells []cell) {
	for _, n := range []int{c.Shown, c.Judged, c.Used, c.Prevented, c.Repeated, c.Tokens} {
		cells = append(cells, text(count(n)))
	}
	return cells
}

func (s *Server) worth(v *visit) (*worthView, error) {
	days, err := strconv.Atoi(cmp.Or(v.value("days"), strconv.Itoa(value.DefaultDays)))
	if err != nil || days < 1 {
		return nil, errs.InvalidField("days", "must be a number of days")
	}
	report, err := s.services.Value.Value(v.Context(), value.Query{Days: days, Project: v.value("project")})
	if err != nil {
		return nil, err
	}
	v.title = "What it is worth"
	page := &worthView{Report: report}
	page.ByDay = plainTable("Day" + worthColumns)
	var told []int
	for _, day := range report.Days {
		told = append(told, day.Shown)
	}
	page.Points = sparkline(told)
	for _, day := range slices.Backward(report.Days) {
		if day.Shown > 0 {
			page.ByDay.add(append([]cell{head("", day.Day.Format("Mon 2 Jan"), "")}, worthCells(day.Counts)...)...)
		}
	}
	page.Moments = plainTable("Moment" + worthColumns)
	for _, m := range report.Moments {
		page.Moments.add(append([]cell{head("", words(m.Moment), "")}, worthCells(m.Counts)...)...)
	}
	page.Rows = plainTable("Item" + worthColumns)
	for _, item := range report.Items {
		name := head(s.itemPath(v, item), cmp.Or(item.Title, item.ID), item.Kind)
		if item.Retire {
			name.Chip = "retire it?"
		}
		page.Rows.add(append([]cell{name}, worthCells(item.Counts)...)...)
	}
	for _, n := range spans {
		page.Spans = append(page.Spans, option{Value: link(overviewPath, "kind", "worth", "days", strconv.Itoa(n)), Name: strconv.Itoa(n) + " days", Chosen: n == days})
	}
	return page, nil
}

// countsFor counts what each place has, for the navigation. What cannot be counted is left out: no page fails for it.
func (s *Server) countsFor(v *visit) []int {
	p, of := v.principal(), *v
	project := setting(v.Request, projectSetting)
	if !p.Sees(project) {
		project = ""
	}
	of.Request = v.WithContext(v.Context()) // a copy, which asks for nothing but the project of the browser
	of.Form = url.Values{"project": {project}}
	key := fmt.Sprint(p.AgentID, p.Scopes, p.Projects(), p.Proved(), project)
	counts, err := s.counted.of(key, s.now, func() ([]int, error) {
		all := make([]int, len(s.places))
		for i, place := range s.places {
			if place.count == nil || p.Need(principal.ScopeRead) != nil {
				continue
			}
			n, err := place.count(&of)
			if err != nil && v.Context().Err() == nil {
				s.log.DebugContext(v.Context(), "a place could not be counted", "place", place.Name, "error", err)
			}
			all[i] = n
		}
		return all, nil
	})
	if err != nil || len(counts) != len(s.places) {
		return make([]int, len(s.places))
	}
	return counts
}
