package web

import (
	"time"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning/lesson"
	"github.com/skillrouter/skillrouter/operational"
)

// mostOnline is how many agents are counted in the navigation.
const mostOnline = 200

// online counts the agents that are at work.
func (s *Server) online(v *visit) (int, error) {
	if s.services.Presence == nil {
		return 0, nil
	}
	found, err := s.services.Presence.Agents(v.Context(), operational.AgentFilter{State: operational.AgentOnline, Project: v.value("project"), Limit: mostOnline})
	return len(found), err
}

// unreadOf adds to an agent how many messages wait for it. That whoever looks may not know it, or it cannot be read, is no reason to show no agent.
func (s *Server) unreadOf(v *visit, item any, of *record) {
	id := item.(operational.Agent).ID
	if v.principal().ActAs(id) != nil {
		return
	}
	if n, err := s.services.Presence.Unread(v.Context(), id); n > 0 && err == nil {
		of.set("unread", count(n))
	}
}

// agent shows an agent. Others may write to a name, or give it a task, before it ever checks in: such a name has a page
// too, which says so.
func (s *Server) agent(v *visit, t *thing, id string) (*detail, error) {
	a, err := s.services.Presence.Agent(v.Context(), id)
	never := errs.CodeOf(err) == errs.NotFound
	if err != nil && !never {
		return nil, err
	}
	a.ID = id
	d, err := s.detailFrom(v, t, id, a)
	if err == nil && never {
		d.Warning, d.Acts = "No agent of this name has checked in. A signal waits for it until it comes.", d.Acts[:min(1, len(d.Acts))]
	}
	return d, err
}

// untilItsEnd says of a session how far its steps go: its end is the last.
func untilItsEnd(_ *Server, _ *visit, item any, of *record) {
	if end := item.(operational.Session).EndedAt; end != nil {
		of.set("until", stampOf(end.Add(time.Second)))
	}
}

// checks lists the checks of the guard, with what keeps hooks from asking it.
func (s *Server) checks(v *visit, t *thing) (listing, error) {
	l, err := s.called(v, t)
	if s.services.Hooks == nil || !v.principal().Has(principal.ScopeCaptain) {
		return l, err
	}
	for _, hook := range s.services.Hooks(v.Context()) {
		if !hook.OK {
			l.Notes = append(l.Notes, hook.Name+": "+hook.Detail)
		}
	}
	return l, err
}

// brief says of a check what the command is about.
func brief(_ *Server, _ *visit, item any, of *record) {
	of.set("proposed_action", item.(lesson.CheckRecord).Brief())
}
