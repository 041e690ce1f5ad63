package web

import (
	"time"

	"skillrouter/comms"
	"skillrouter/internal/principal"
	"skillrouter/learning/lesson"
	"skillrouter/operational"
	"skillrouter/router/feed"
)

const (
	// overdueAfter is how long a message may wait for the acknowledgement that it asked for.
	overdueAfter = 10 * time.Minute
	// attention bounds each list of what wants looking at.
	attention = 5
)

func (s *Server) overviewPages() {
	s.page("/", "overview.html", "Overview", s.overview)
	s.section(operations, "Overview", "/")
}

// overview is what the page at / shows.
type overview struct {
	Health  *Health
	Tasks   *taskFigures
	Lessons *lesson.Figures
	Live    []operational.Agent // online ones, the latest seen first
	Stale   []operational.Agent
	Blocked []operational.Task
	Overdue []comms.OverdueMessage
	Moments []feed.Moment // the latest first
	Fresh   bool          // nobody has used the router yet
}

// taskFigures are how many tasks are unfinished, and why.
type taskFigures struct{ Open, Waiting, Blocked int }

func (s *Server) overview(v *visit) (any, error) {
	ctx, o, project := v.Context(), overview{}, v.value("project")
	if s.services.Health != nil {
		health := s.services.Health(ctx)
		o.Health = &health
	}
	var err error
	if s.services.Presence != nil {
		if o.Live, err = s.services.Presence.Agents(ctx, operational.AgentFilter{State: operational.AgentOnline, Project: project, Limit: 10}); err != nil {
			return nil, err
		}
		if o.Stale, err = s.services.Presence.Agents(ctx, operational.AgentFilter{State: operational.AgentStale, Project: project, Limit: attention}); err != nil {
			return nil, err
		}
	}
	if s.services.Tasks != nil {
		summary, err := s.services.Tasks.Summary(ctx, operational.TaskFilter{Project: project})
		if err != nil {
			return nil, err
		}
		o.Tasks = &taskFigures{Open: summary.Open, Waiting: summary.ByStatus[operational.TaskPending], Blocked: summary.ByStatus[operational.TaskBlocked]}
		if o.Blocked, err = s.services.Tasks.List(ctx, operational.TaskFilter{Status: []operational.TaskStatus{operational.TaskBlocked}, Project: project, Limit: attention}); err != nil {
			return nil, err
		}
	}
	if s.services.Memory != nil {
		figures, err := s.services.Memory.Figures(ctx)
		if err != nil {
			return nil, err
		}
		o.Lessons = &figures
	}
	if s.services.Mailbox != nil && v.principal().Has(principal.ScopeAgent) {
		if o.Overdue, err = s.services.Mailbox.Overdue(ctx, overdueAfter, attention); err != nil {
			return nil, err
		}
	}
	if o.Health != nil {
		o.Fresh = o.Health.Stats["agents"] == 0 && o.Health.Stats["knowledge"] == 0 && o.Health.Stats["lessons"] == 0
	}
	if o.Moments, err = s.latest(v, feed.TimelineQuery{Project: project}); err != nil {
		return nil, err
	}
	return o, nil
}
