package app

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"skillrouter/learning/guard"
	"skillrouter/learning/guard/rule"
	"skillrouter/operational"
	"skillrouter/router"
	"skillrouter/router/httpapi"
)

// wireFigures counts what happens over time. What is counted elsewhere already is looked at there.
func (a *App) wireFigures(ctx context.Context, p *parts) error {
	sent, err := p.operations.LastSeq(ctx)
	if err != nil {
		return err
	}
	looks := []operational.FigureLook{
		func(_ context.Context, count counting) {
			if online := int64(p.presence.Count()[operational.AgentOnline]); online > 0 {
				count(operational.FigureAgents, "", operational.FigureCounts{Count: 1, Part: online, Most: online})
			}
		},
		func(ctx context.Context, count counting) {
			last, err := p.operations.LastSeq(ctx)
			if err == nil && last > sent {
				count(operational.FigureSignals, "", operational.FigureCounts{Count: last - sent})
				sent = last
			}
		},
		latencyLook(p.registry),
	}
	if a.aside != nil { // the writer counts what all nodes see
		looks = looks[2:]
	}
	p.figures = operational.NewFigures(a.aside.operations(p.operations), operational.FigureOptions{Now: a.now, Log: a.log, Looks: looks})
	p.routes = append(p.routes, httpapi.Figures(p.figures))
	a.life.run(ctx, "figures", p.figures.Run)
	return nil
}

// counting is how a look counts.
type counting = func(figure operational.Figure, name string, c operational.FigureCounts)

// called counts a call of a tool.
func (p *parts) called(tool string, took time.Duration, err error) {
	c := operational.FigureCounts{Count: 1}
	if err != nil {
		c.Part = 1
	}
	p.figures.Count(operational.FigureCalls, tool, c)
	p.figures.Count(operational.FigureLatency, operational.LatencyName(took.Seconds()), operational.FigureCounts{Count: 1})
}

// latencyLook looks at the times to answer that the metrics have.
func latencyLook(registry *prometheus.Registry) operational.FigureLook {
	seen := map[string]uint64{}
	return func(_ context.Context, count counting) {
		families, _ := registry.Gather() // of one that fails the others are there
		for _, family := range families {
			if family.GetName() != httpapi.SecondsMetric {
				continue
			}
			sums := map[string]uint64{}
			for _, metric := range family.GetMetric() {
				if labels := metric.GetLabel(); len(labels) != 1 || !awaited(labels[0].GetValue()) {
					continue
				}
				below, h := uint64(0), metric.GetHistogram()
				for _, bucket := range h.GetBucket() {
					sums[operational.LatencyName(bucket.GetUpperBound())] += bucket.GetCumulativeCount() - below
					below = bucket.GetCumulativeCount()
				}
				sums[""] += h.GetSampleCount() - below
			}
			for name, n := range sums {
				if more := n - seen[name]; more > 0 {
					count(operational.FigureLatency, name, operational.FigureCounts{Count: int64(more)})
				}
			}
			seen = sums
		}
	}
}

// awaited tells whether agents wait for the answers of a route: not for a stream's, which is as long as it is open, a page's, a
// probe's or a model's. Calls of tools are counted by themselves.
func awaited(route string) bool {
	if slices.Contains([]string{"/", "/messages", "/events", "/ws", "/mcp", "/health", "/metrics", "unknown"}, route) {
		return false
	}
	return !slices.ContainsFunc([]string{"/ui/", "/assets/", "/docs", "/v1/", "/openapi", "/api/tools/", "/api/figures"}, func(prefix string) bool { return strings.HasPrefix(route, prefix) })
}

// countChecked counts a check of the guard and what each rule said. One that waits for files is counted when it comes again with them.
func countChecked(figures *operational.Figures, action rule.Action, checked guard.Checked) {
	if len(checked.Needs) > 0 {
		return
	}
	blocked := int64(0)
	if checked.Blocked {
		blocked = 1
	}
	figures.Count(operational.FigureChecks, action.Project, operational.FigureCounts{Count: 1, Part: blocked})
	for _, m := range checked.Matches {
		name := m.RuleID
		if m.Lane == rule.LaneIncident {
			name = router.KindIncident
		}
		blocks := int64(0)
		if checked.Blocked && m.Blocks {
			blocks = 1
		}
		figures.Count(operational.FigureRules, name, operational.FigureCounts{Count: 1, Part: blocks})
	}
}

// countSearch counts a search, or a question, that was answered.
func countSearch(figures *operational.Figures, project string, found int, err error) {
	if err == nil {
		figures.Count(operational.FigureSearches, project, operational.FigureCounts{Count: 1, Part: int64(min(found, 1))})
	}
}
