package web

import (
	"strconv"

	"skillrouter/internal/check"
	"skillrouter/operational"
	"skillrouter/router/feed"
)

// planPages registers the pages of what goes on over time: sessions and reminders.
func (s *Server) planPages() {
	if s.services.Sessions != nil {
		s.page("/ui/sessions", "sessions.html", "Sessions", s.sessionsOf)
		s.page("/ui/session", "session.html", "Session", s.session)
		s.section(operations, "Sessions", "/ui/sessions")
	}
	if s.services.Reminders != nil {
		s.page("/ui/reminders", "reminders.html", "Reminders", s.reminders)
		s.section(operations, "Reminders", "/ui/reminders")
	}
}

// sessionList is what the page of the sessions shows.
type sessionList struct{ Sessions []operational.Session }

func (s *Server) sessionsOf(v *visit) (any, error) {
	sessions, err := s.services.Sessions.List(v.Context(), operational.SessionFilter{
		AgentID: v.value("agent"), Project: v.value("project"), Status: operational.SessionStatus(v.value("status")), Limit: pageRows,
	})
	return sessionList{sessions}, err
}

func (s *Server) session(v *visit) (any, error) {
	session, err := s.sessionOrRun(v)
	if err != nil {
		return nil, err
	}
	v.title = "Session of " + session.AgentID
	page := sessionDetail{Session: session, Range: s.rangeOf(session)}
	page.Steps, page.More, err = s.replay(v, session)
	return page, err
}

// sessionOrRun is the session that a page is about or, of an agent that began none by name, its latest run.
func (s *Server) sessionOrRun(v *visit) (operational.Session, error) {
	id := v.value("agent")
	if id == "" || v.value("id") != "" || s.services.Presence == nil {
		return s.services.Sessions.Session(v.Context(), v.value("id"))
	}
	agent, err := s.services.Presence.Agent(v.Context(), id)
	run := operational.Session{AgentID: agent.ID, Status: operational.SessionOpen, Goal: agent.CurrentTask, StartedAt: agent.StartedAt}
	if agent.State == operational.AgentOffline {
		run.Status, run.EndedAt = operational.SessionEnded, &agent.LastSeen
	}
	return run, err
}

// sessionDetail is a session with what was done in it.
type sessionDetail struct {
	operational.Session
	Steps []feed.Moment // in their order
	More  bool          // there are more, before these
	Range string
}

// reminderList is what the page of the reminders shows.
type reminderList struct {
	Reminders []operational.Reminder
	Statuses  []operational.ReminderStatus
	pager
}

func (s *Server) reminders(v *visit) (any, error) {
	after, err := v.number("after", 1<<53)
	if err != nil {
		return nil, err
	}
	filter := operational.ReminderFilter{AgentID: v.value("agent"), Persona: v.value("persona"), After: int64(after), Limit: pageRows + 1}
	switch status := v.value("status"); status {
	case "":
		filter.Open = true
	case "all":
	default:
		one := operational.ReminderStatus(status)
		if err := check.OneOf("status", one, operational.ReminderStatuses()); err != nil {
			return nil, err
		}
		filter.Status = []operational.ReminderStatus{one}
	}
	list := reminderList{Statuses: operational.ReminderStatuses()}
	if list.Reminders, err = s.services.Reminders.List(v.Context(), filter); err != nil {
		return nil, err
	}
	next := ""
	if len(list.Reminders) > pageRows {
		list.Reminders = list.Reminders[:pageRows]
		last := list.Reminders[pageRows-1].Number
		if after == 0 { // those that are due stand first here; the pages go by number from the beginning
			last = 0
			for _, one := range list.Reminders {
				if one.Status != operational.ReminderDue {
					last = max(last, one.Number)
				}
			}
		}
		next = strconv.FormatInt(last, 10)
	}
	list.pager = v.turns("after", next, after > 0, "From the beginning", "More")
	return list, nil
}
