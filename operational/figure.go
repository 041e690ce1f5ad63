package operational

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strconv"
	"time"

	"skillrouter"
)

// Figure is something that is counted over time.
type Figure string

// The figures. Each is kept under names: those of FigureChecks and the three after it are projects.
const (
	FigureAgents   Figure = "agents"   // Count: looks; Part: the agents online at these; Most: the most
	FigureCalls    Figure = "calls"    // of the router's tools, by tool; Part: failed ones
	FigureRules    Figure = "rules"    // warnings and blocks of the guard, by rule; Part: blocks
	FigureSignals  Figure = "signals"  // messages and signals that were sent
	FigureLatency  Figure = "latency"  // answers, by the bound of LatencyBounds that they stayed under
	FigureChecks   Figure = "checks"   // of the guard; Part: blocked ones
	FigureSearches Figure = "searches" // Part: those that found something
	FigureFailures Figure = "failures" // of agents' commands; Part: those of which something was known
	FigureRepeats  Figure = "repeats"  // mistakes that agents were warned of; Count: prevented ones, Part: those made all the same
	FigureTokens   Figure = "tokens"   // Count: tokens that agents were told; Part: in how many tellings
)

// byProject are the figures whose names are projects.
var byProject = []Figure{FigureChecks, FigureSearches, FigureFailures, FigureRepeats, FigureTokens}

// byName are the figures of which a report tells the names apart.
var byName = []Figure{FigureCalls, FigureRules, FigureLatency}

// Bounds of figures over time. (192 hours + 83 days) × 8 named figures × MaxFigureNames rows are at most kept: a busy
// team's are measured by a test.
const (
	// FigureHours is how many hours before today are kept as hours; older ones are kept as days, RetainedDays of them.
	FigureHours = 7 * 24
	// MaxFigureNames is how many names of a figure are kept on one day. All that come later are counted under none.
	MaxFigureNames = 20
	dayHours       = 24
)

// LatencyBounds are the bounds in seconds that times to answer are counted under.
func LatencyBounds() []float64 {
	return []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, 1, 5}
}

// LatencyName names the bound of LatencyBounds that a time in seconds stays under: its microseconds. Empty: none.
func LatencyName(seconds float64) string {
	for _, bound := range LatencyBounds() {
		if seconds <= bound {
			return strconv.Itoa(int(math.Round(bound * 1e6)))
		}
	}
	return ""
}

// FigureCounts are what is added to a figure. Part is of Count, as the figure says; Most is a highest value.
type FigureCounts struct{ Count, Part, Most int64 }

// FigureRow is what an hour, or a day, comes to for a name of a figure.
type FigureRow struct {
	Hour   int64 // since 1970, UTC
	Figure Figure
	Name   string
	FigureCounts
}

// FigureKeep says which hours are kept, and how.
type FigureKeep struct {
	Days  int64 // hours before this one are joined to their days; it is the first of a day
	Since int64 // and those before this one are removed
}

// FigureRange selects rows.
type FigureRange struct {
	Since, Until int64    // hours from Since on, before Until
	Step         int64    // how many hours become one row: 1 or 24
	Figures      []Figure // nil: all
	Name         *string  // only this one; nil: all
	Apart        []Figure // those whose names are told apart; the others' are summed up
}

// FigureStore keeps figures.
type FigureStore interface {
	// AddFigures adds to rows; a keep that is not zero removes what is not kept.
	AddFigures(ctx context.Context, rows []FigureRow, keep FigureKeep) error
	// FigureRows sums up rows, in the order of their hours, figures and names.
	FigureRows(ctx context.Context, q FigureRange) ([]FigureRow, error)
}

// FigureService says how figures went over time. Figures implements it beside the database, router/client over HTTP.
type FigureService interface {
	// Figures reports. It needs ScopeRead, and refuses whoever is bound to projects: the figures are the team's.
	Figures(ctx context.Context, query FigureQuery) (FigureReport, error)
}

// FigureQuery says which figures are asked for.
type FigureQuery struct {
	Days    int    `query:"days" minimum:"0" maximum:"90" doc:"So many days, this one among them; 0: 7. 1: the last 24 hours"`
	Project string `query:"project" doc:"Empty: all. With one only what is kept by project is told"`
}

// DefaultFigureDays is what is told where nobody says how many days.
const DefaultFigureDays = 7

// FigureReport is how figures went over time.
type FigureReport struct {
	Since   time.Time     `json:"since"`
	Until   time.Time     `json:"until"`
	Step    int           `json:"step_hours" doc:"How many hours a point stands for: 1 for 7 days and less, 24 for more"`
	Project string        `json:"project,omitempty"`
	Total   FigureSums    `json:"total"`
	Points  []FigurePoint `json:"points" doc:"Each hour or day, also one in which nothing happened"`
	Tools   []FigureName  `json:"tools" doc:"The tools of the router that were called, the most used first; part: failed calls"`
	Rules   []FigureName  `json:"rules" doc:"The guard's rules that said something, the busiest first; part: blocks. The rule incident is what failed here before"`
}

// FigurePoint is an hour or a day.
type FigurePoint struct {
	At time.Time `json:"at"`
	FigureSums
}

// FigureSums are the figures of a time.
type FigureSums struct {
	Checks    int64       `json:"checks"`
	Blocks    int64       `json:"blocks"`
	Searches  int64       `json:"searches"`
	Found     int64       `json:"found"` // of the searches, those that found something
	Failures  int64       `json:"failures"`
	Answered  int64       `json:"answered"` // of the failures, those of which something was known
	Prevented int64       `json:"prevented"`
	Repeated  int64       `json:"repeated"` // mistakes that were made all the same
	Tokens    int64       `json:"tokens"`
	Team      *TeamFigure `json:"team,omitempty" doc:"What is counted of the whole team; not there for one project"`
}

// TeamFigure are figures that belong to no project.
type TeamFigure struct {
	Agents  int64   `json:"agents"` // the most that were online at once
	Calls   int64   `json:"calls"`  // of the router's tools
	Failed  int64   `json:"failed"` // of the calls
	Signals int64   `json:"signals"`
	Answers int64   `json:"answers"`   // of which the time was taken
	Median  float64 `json:"median_ms"` // half of the answers took no longer
	Slow    float64 `json:"slow_ms"`   // 95 of 100 took no longer
	latency []int64 // answers by bound, and at last those above all
}

// FigureName is a name of a figure.
type FigureName struct {
	Name   string  `json:"name"` // empty: those that found no room
	Count  int64   `json:"count"`
	Part   int64   `json:"part"`
	Points []int64 `json:"points"` // the counts, by point
}

// add adds a row.
func (s *FigureSums) add(r FigureRow) {
	team := s.Team
	switch r.Figure {
	case FigureChecks:
		s.Checks, s.Blocks = s.Checks+r.Count, s.Blocks+r.Part
	case FigureSearches:
		s.Searches, s.Found = s.Searches+r.Count, s.Found+r.Part
	case FigureFailures:
		s.Failures, s.Answered = s.Failures+r.Count, s.Answered+r.Part
	case FigureRepeats:
		s.Prevented, s.Repeated = s.Prevented+r.Count, s.Repeated+r.Part
	case FigureTokens:
		s.Tokens += r.Count
	}
	if team == nil {
		return
	}
	switch r.Figure {
	case FigureAgents:
		team.Agents = max(team.Agents, r.Most)
	case FigureCalls:
		team.Calls, team.Failed = team.Calls+r.Count, team.Failed+r.Part
	case FigureSignals:
		team.Signals += r.Count
	case FigureLatency:
		team.Answers += r.Count
		place := slices.IndexFunc(LatencyBounds(), func(bound float64) bool { return LatencyName(bound) == r.Name })
		if place < 0 { // above all bounds
			place = len(team.latency) - 1
		}
		team.latency[place] += r.Count
	}
}

// settle works out how long answers took.
func (s *FigureSums) settle() {
	if s.Team != nil {
		s.Team.Median, s.Team.Slow = within(s.Team.latency, .5), within(s.Team.latency, .95)
	}
}

// within is the time in milliseconds that a share of answers stayed under, as far as the bounds tell; those above all bounds count as the last.
func within(latency []int64, share float64) float64 {
	var all int64
	for _, n := range latency {
		all += n
	}
	bounds := LatencyBounds()
	rank, below, lower := share*float64(all), 0., 0.
	for i, bound := range bounds {
		n := float64(latency[i])
		if n > 0 && below+n >= rank {
			return math.Round((lower+(bound-lower)*(rank-below)/n)*1e6) / 1e3
		}
		below, lower = below+n, bound
	}
	if all == 0 {
		return 0
	}
	return lower * 1e3
}

// hourOf is the number of a time's hour.
func hourOf(at time.Time) int64 { return at.Unix() / int64(time.Hour/time.Second) }

// figureSums are empty figures; of a project they have no team's.
func figureSums(project string) FigureSums {
	if project != "" {
		return FigureSums{}
	}
	return FigureSums{Team: &TeamFigure{latency: make([]int64, len(LatencyBounds())+1)}}
}

// figureRange is what a query asks the store for.
func figureRange(query FigureQuery, now time.Time) (FigureRange, error) {
	days := cmp.Or(int64(query.Days), DefaultFigureDays)
	if err := skillrouter.CheckName("project", query.Project); err != nil {
		return FigureRange{}, err
	}
	if days < 0 || days > RetainedDays {
		return FigureRange{}, skillrouter.InvalidField("days", "must lie between 1 and %d", RetainedDays)
	}
	const hourlyDays = 7 // up to so many days there is a point for each hour; beyond, for each day
	q := FigureRange{Step: 1, Until: hourOf(now) + 1, Apart: byName}
	if days > hourlyDays {
		q.Step, q.Until = dayHours, (DayOf(now)+1)*dayHours
	}
	q.Since = q.Until - days*dayHours
	if query.Project != "" {
		q.Figures, q.Name = byProject, &query.Project
	}
	return q, nil
}
