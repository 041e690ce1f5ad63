package web

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/router/feed"
)

const (
	// mostGathered bounds the moments that lanes are drawn of, and mostLanes how many agents have one.
	mostGathered = 5 * feed.MaxMoments
	mostLanes    = 12
	// lanePieces is how many pieces of time a lane has: what happens in one of them is one bar.
	lanePieces = 72
	// lanesReach is how far back lanes reach where nobody says.
	lanesReach = 6 * time.Hour
)

// timeline lists what happened, below a lane for each agent.
func (s *Server) timeline(v *visit, t *thing) (l listing, err error) {
	if old := v.value("range"); old != "" { // of links of earlier releases
		v.Form.Set("time_range", old)
		v.Form.Del("range")
	}
	asked := v.asking(maps.Clone(v.Form))
	asked.Form.Set("before", v.value("cursor"))
	if l, err = s.called(asked, t); err != nil {
		return l, err
	}
	query := feed.TimelineQuery{Agent: v.value("agent"), Project: v.value("project"), Range: v.value("time_range")}
	for _, name := range []string{"1h", "6h", "24h", "7d"} {
		l.Ranges = append(l.Ranges, option{Value: v.with("time_range", name), Name: name, Chosen: name == cmp.Or(query.Range, "6h")})
	}
	if v.value("cursor") == "" && v.value("kind") == "" {
		l.Lanes, _, err = s.lanesOf(v, query)
	}
	return l, err
}

// moments are the newest that a query selects, as many as lanes are drawn of.
func (s *Server) moments(v *visit, query feed.TimelineQuery) (moments []feed.Moment, err error) {
	for len(moments) < mostGathered {
		query.Limit = feed.MaxMoments
		found, err := s.services.Timeline.Timeline(v.Context(), query)
		if err != nil {
			return nil, err
		}
		moments = append(moments, found.Moments...)
		if query.Before = found.Next; found.Next == "" {
			break
		}
	}
	return moments, nil
}

// lanes are what agents did over a stretch of time, one line for each, drawn with attributes alone: the policy of the pages allows no style.
type lanes struct {
	Axis  []string
	Lanes []lane
	More  int // agents that have no lane
}

type lane struct {
	Agent, Path, State string
	Bands, Bars        []bar
	Says               string // what is drawn, in words
}

// bar is a rectangle; its place and width are in per cent of the stretch.
type bar struct{ X, Width, Tone, Says string }

// lanesOf draws what a query selects over its range, or the last hours, and returns it too.
func (s *Server) lanesOf(v *visit, query feed.TimelineQuery) (*lanes, []feed.Moment, error) {
	now := s.now().UTC()
	when, err := learning.ParseTimeRange("range", query.Range, now)
	if err != nil {
		return nil, nil, err
	}
	if when.From.IsZero() {
		when.From = now.Add(-lanesReach)
	}
	if when.To.IsZero() {
		when.To = now
	}
	begin, stretch := when.From, max(when.To.Sub(when.From), time.Minute)
	query.Range = begin.Format(time.RFC3339) + ".." + when.To.Add(time.Second).Format(time.RFC3339)
	moments, err := s.moments(v, query)
	if err != nil || len(moments) == 0 {
		return nil, moments, err
	}
	agents := map[string][]feed.Moment{}
	var order []string // who did something last comes first
	for _, m := range moments {
		if m.Agent == "" || m.Agent == operational.RouterName || query.Agent != "" && m.Agent != query.Agent {
			continue
		}
		if agents[m.Agent] == nil {
			order = append(order, m.Agent)
		}
		agents[m.Agent] = append(agents[m.Agent], m)
	}
	if len(order) == 0 {
		return nil, moments, nil
	}
	drawn := &lanes{Axis: axis(begin, stretch), More: max(len(order)-mostLanes, 0)}
	at := func(t time.Time) float64 { return min(max(100*float64(t.Sub(begin))/float64(stretch), 0), 100) }
	for _, id := range order[:min(len(order), mostLanes)] {
		one := lane{Agent: id, Path: link(timelinePath, "agent", id)}
		if s.services.Presence != nil {
			if agent, err := s.services.Presence.Agent(v.Context(), id); err == nil {
				one.State = string(agent.State)
				if end := agent.LastSeen; end.After(begin) { // of its present run, or of the last
					one.Bands = []bar{rectangle(at(agent.StartedAt), at(end)-at(agent.StartedAt))}
				}
			}
		}
		one.Bars = bursts(agents[id], begin, stretch)
		one.Says = fmt.Sprintf("%s: %d events in %s", id, len(agents[id]), span(stretch))
		drawn.Lanes = append(drawn.Lanes, one)
	}
	return drawn, moments, nil
}

// axis are five times of a stretch: of days the day, of hours the hour.
func axis(begin time.Time, stretch time.Duration) (times []string) {
	format := "15:04"
	if stretch > 24*time.Hour {
		format = "2 Jan"
	}
	for i := range 5 {
		times = append(times, begin.Add(time.Duration(i)*stretch/4).Format(format))
	}
	return times
}

// bursts are what an agent did, a bar for each piece of time in which it did something.
func bursts(moments []feed.Moment, begin time.Time, stretch time.Duration) (bars []bar) {
	piece := stretch / lanePieces
	counts, worst := make([]int, lanePieces+1), make([]string, lanePieces+1)
	for _, m := range moments {
		i := int(m.At.Sub(begin) / piece)
		if m.Kind == feed.KindAgent || i < 0 || i > lanePieces {
			continue
		}
		counts[i]++
		if t := tone(m.State); t == "bad" || t == "warn" && worst[i] != "bad" {
			worst[i] = t
		}
	}
	for i, n := range counts {
		if n == 0 {
			continue
		}
		from := begin.Add(time.Duration(i) * piece)
		b := rectangle(100*float64(i)/lanePieces, 90.0/lanePieces)
		b.Tone = cmp.Or(worst[i], "calm")
		b.Says = fmt.Sprintf("%d at %s", n, from.Format("15:04"))
		bars = append(bars, b)
	}
	return bars
}

func rectangle(x, width float64) bar {
	return bar{X: strconv.FormatFloat(x, 'f', 2, 64) + "%", Width: strconv.FormatFloat(max(width, 0.3), 'f', 2, 64) + "%"}
}

// momentPath is where a moment leads: to what it is about.
func momentPath(m feed.Moment) string {
	switch m.About {
	case "rule":
		return link(guardPath, "kind", "check", "rule_id", m.Subject)
	case "check":
		return link(guardPath, "kind", "check", "agent", m.Agent) + "#check-" + url.QueryEscape(m.Subject)
	case "transcript":
		return link(inboxPath, "kind", "proposal")
	}
	return pathOf(m.About, m.Subject)
}

// sparkline are the points of a line of 64 × 20, the oldest first; empty: there is nothing to draw.
func sparkline(values []int) string {
	most := slices.Max(append(values, 0))
	if len(values) < 2 || most == 0 {
		return ""
	}
	var points []string
	for i, n := range values {
		points = append(points, fmt.Sprintf("%.1f,%.1f", 1+62*float64(i)/float64(len(values)-1), 19-18*float64(n)/float64(most)))
	}
	return strings.Join(points, " ")
}

// perPiece counts what there is by equal pieces of a stretch that ends now.
func perPiece[T any](all []T, at func(T) time.Time, now time.Time, stretch time.Duration, pieces int) []int {
	counts := make([]int, pieces)
	for _, one := range all {
		if i := pieces - 1 - int(now.Sub(at(one))*time.Duration(pieces)/stretch); i >= 0 && i < pieces {
			counts[i]++
		}
	}
	return counts
}
