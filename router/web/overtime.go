package web

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"skillrouter"
	"skillrouter/operational"
	"skillrouter/router"
)

// drawnRules is how many of the guard's rules are drawn over time: a plot tells four lines apart.
const drawnRules = 4

// overTime is how the team's figures went over time.
type overTime struct {
	Project string
	Spans   []spanTab
	Totals  []total
	Plots   []plot
	Columns []string
	Rows    []timeRow
	Tools   []operational.FigureName
	Rules   []ruleFigure
}

type spanTab struct {
	Name, Path string
	On         bool
}

// total is a figure of the whole time, and the page of what is behind it.
type total struct{ Name, Value, Path string }

// plot is drawn from columns of the table.
type plot struct {
	Title   string
	Columns string // their places, by spaces
	Behind  []behind
}

// behind is the page of what is behind a plot.
type behind struct{ Name, Path string }

// timeRow is an hour or a day.
type timeRow struct {
	At     time.Time
	Values []string // empty: there is none
}

// ruleFigure is a rule of the guard that said something.
type ruleFigure struct {
	operational.FigureName
	Title, Path string
}

// figureSpans are how many days the page offers.
var figureSpans = []struct {
	days int
	name string
}{{1, "24 hours"}, {7, "7 days"}, {30, "30 days"}, {90, "90 days"}}

// days is how many days a page was asked for.
func (v *visit) days(otherwise int) (int, error) {
	days, err := strconv.Atoi(cmp.Or(v.value("days"), strconv.Itoa(otherwise)))
	if err != nil || days < 1 {
		return 0, skillrouter.InvalidField("days", "must be a number of days")
	}
	return days, nil
}

func (s *Server) overTime(v *visit) (*overTime, error) {
	if s.services.Figures == nil {
		return nil, nil
	}
	days, err := v.days(operational.DefaultFigureDays)
	if err != nil {
		return nil, err
	}
	report, err := s.services.Figures.Figures(v.context(), operational.FigureQuery{Days: days, Project: v.value("project")})
	if err != nil {
		return nil, err
	}
	v.charts = true
	o := &overTime{Project: report.Project, Tools: report.Tools}
	for _, one := range figureSpans {
		o.Spans = append(o.Spans, spanTab{one.name, link("/ui/figures", "days", strconv.Itoa(one.days), "project", report.Project), one.days == days})
	}
	for _, r := range report.Rules {
		o.Rules = append(o.Rules, s.ruleFigure(v.context(), r))
	}
	o.draw(report, strconv.Itoa(days))
	return o, nil
}

// ruleFigure finds the title of a rule.
func (s *Server) ruleFigure(ctx context.Context, r operational.FigureName) ruleFigure {
	switch {
	case r.Name == "":
		return ruleFigure{r, "other rules", "/ui/guard/ledger"}
	case r.Name == router.KindIncident:
		return ruleFigure{r, "what failed here before", "/ui/incidents"}
	}
	f := ruleFigure{r, r.Name, link("/ui/guard/ledger", "rule", r.Name)}
	if s.services.Guard != nil {
		if found, err := s.services.Guard.Rule(ctx, r.Name); err == nil {
			f.Title = found.Title
		}
	}
	return f
}

// column is a column of the table: its name, and its value of a time.
type column struct {
	name string
	of   func(f operational.FigureSums) string
}

func number64(of func(f operational.FigureSums) int64) func(operational.FigureSums) string {
	return func(f operational.FigureSums) string { return strconv.FormatInt(of(f), 10) }
}

func took(of func(f operational.FigureSums) float64) func(operational.FigureSums) string {
	return func(f operational.FigureSums) string {
		if f.Team.Answers == 0 {
			return ""
		}
		return number(2, of(f))
	}
}

// draw makes the plots, and the table that they are drawn from.
func (o *overTime) draw(report operational.FigureReport, days string) {
	moments := func(kind string) string {
		return link(timelinePath, "kind", kind, "range", days+"d", "project", report.Project)
	}
	byTool := []behind{{"what agents do", "/ui/timeline"}}
	if len(o.Tools) > 0 {
		byTool = []behind{{"by tool", "#tools"}}
	}
	worth := link("/ui/value", "days", days, "project", report.Project)
	type family struct {
		title   string
		team    bool // of the whole team alone
		behind  []behind
		columns []column
	}
	for _, f := range []family{
		{"Agents online", true, []behind{{"the agents", "/ui/agents"}}, []column{
			{"Agents online", number64(func(f operational.FigureSums) int64 { return f.Team.Agents })},
		}},
		{"Calls of the router’s tools", true, byTool, []column{
			{"Calls", number64(func(f operational.FigureSums) int64 { return f.Team.Calls })},
			{"Failed calls", number64(func(f operational.FigureSums) int64 { return f.Team.Failed })},
		}},
		{"Checks of the guard", false, []behind{{"checks", moments("check")}, {"blocks", moments("block")}}, []column{
			{"Checks", number64(func(f operational.FigureSums) int64 { return f.Checks })},
			{"Blocks", number64(func(f operational.FigureSums) int64 { return f.Blocks })},
		}},
		{"Searches", false, []behind{{"what was not found", "/ui/gaps"}}, []column{
			{"Searches", number64(func(f operational.FigureSums) int64 { return f.Searches })},
			{"Found something", number64(func(f operational.FigureSums) int64 { return f.Found })},
		}},
		{"Failures of commands", false, []behind{{"failures", moments("failure")}}, []column{
			{"Failures", number64(func(f operational.FigureSums) int64 { return f.Failures })},
			{"Something was known", number64(func(f operational.FigureSums) int64 { return f.Answered })},
		}},
		{"Mistakes that agents were warned of", false, []behind{{"what came of each memory", worth}}, []column{
			{"Prevented", number64(func(f operational.FigureSums) int64 { return f.Prevented })},
			{"Made all the same", number64(func(f operational.FigureSums) int64 { return f.Repeated })},
		}},
		{"Tokens that agents were told", false, []behind{{"what was told", moments("told")}, {"what it is worth", worth}}, []column{
			{"Tokens", number64(func(f operational.FigureSums) int64 { return f.Tokens })},
		}},
		{"Messages and signals", true, []behind{{"messages", "/ui/messages"}}, []column{
			{"Signals", number64(func(f operational.FigureSums) int64 { return f.Team.Signals })},
		}},
		{"Milliseconds to answer", true, []behind{{"health", "/ui/health"}}, []column{
			{"Median, ms", took(func(f operational.FigureSums) float64 { return f.Team.Median })},
			{"95 of 100, ms", took(func(f operational.FigureSums) float64 { return f.Team.Slow })},
		}},
	} {
		if f.team && report.Total.Team == nil {
			continue
		}
		var places []string
		for i, c := range f.columns {
			o.Columns = append(o.Columns, c.name)
			places = append(places, strconv.Itoa(len(o.Columns)))
			value := c.of(report.Total)
			if n, err := strconv.ParseInt(value, 10, 64); err == nil {
				value = count(n)
			}
			sum := total{Name: c.name, Value: cmp.Or(value, "–")}
			if len(f.behind) > 0 {
				sum.Path = f.behind[min(i, len(f.behind)-1)].Path
			}
			o.Totals = append(o.Totals, sum)
			for at, point := range report.Points {
				if at == len(o.Rows) {
					o.Rows = append(o.Rows, timeRow{At: point.At})
				}
				o.Rows[at].Values = append(o.Rows[at].Values, c.of(point.FigureSums))
			}
		}
		o.Plots = append(o.Plots, plot{f.title, strings.Join(places, " "), f.behind})
	}
	o.drawRules()
}

// drawRules adds the busiest rules.
func (o *overTime) drawRules() {
	var places []string
	for _, r := range o.Rules[:min(len(o.Rules), drawnRules)] {
		o.Columns = append(o.Columns, short(40, r.Title))
		places = append(places, strconv.Itoa(len(o.Columns)))
		for at := range o.Rows {
			o.Rows[at].Values = append(o.Rows[at].Values, strconv.FormatInt(r.Points[at], 10))
		}
	}
	if len(places) > 0 {
		checks := slices.IndexFunc(o.Plots, func(p plot) bool { return strings.HasPrefix(p.Title, "Checks") })
		o.Plots = slices.Insert(o.Plots, checks+1, plot{"The guard’s busiest rules", strings.Join(places, " "), []behind{{"by rule", "#rules-over-time"}, {"the guard", "/ui/guard"}}})
	}
}
