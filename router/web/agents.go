package web

import (
	"slices"

	"skillrouter/internal/errs"
	"skillrouter/internal/principal"
	"skillrouter/learning/lesson"
	"skillrouter/operational"
	"skillrouter/router/feed"
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

// aroundAgent adds to an agent what happened to it, and its messages.
func (s *Server) aroundAgent(v *visit, item any, d *detail) error {
	id := item.(operational.Agent).ID
	if s.services.Timeline != nil {
		told, err := s.moments(v, feed.TimelineQuery{Agent: id, Kinds: []string{feed.KindTold}}, latestMoments)
		if err != nil {
			return err
		}
		if i := slices.IndexFunc(told, func(m feed.Moment) bool { return m.Start }); i >= 0 {
			d.Blocks = append(d.Blocks, block{ID: "begin", Title: "Told at its start", Moments: told[i : i+1]})
		}
		lanes, moments, err := s.lanesOf(v, feed.TimelineQuery{Agent: id}, spanOf(v.value("range")))
		if err == nil && len(moments) == 0 {
			moments, err = s.moments(v, feed.TimelineQuery{Agent: id}, latestMoments)
		}
		if err != nil {
			return err
		}
		more := []option{{Name: "All of it", Value: link(timelinePath, "agent", id)}}
		if !v.principal().Walled() {
			more = append(more, option{Name: "what it was stopped from", Value: link(timelinePath, "agent", id, "kind", feed.KindBlock)}, option{Name: "what it was told", Value: link(timelinePath, "agent", id, "kind", feed.KindTold)})
		}
		d.Blocks = append(d.Blocks, block{ID: "moments", Title: "What happened", Live: "*", Lanes: lanes, Moments: moments[:min(len(moments), latestMoments)], Empty: "Nothing yet.", More: more})
	}
	if v.principal().ActAs(id) != nil || s.services.Mailbox == nil {
		return nil
	}
	page, err := s.services.Mailbox.Log(v.Context(), operational.LogQuery{Agent: id, Limit: 10})
	if err != nil {
		return err
	}
	said, err := s.asSaid(v, page.Messages)
	d.Blocks = append(d.Blocks, block{ID: "messages", Title: "Messages", Live: "message.", Said: said, Empty: "There are no messages here.", More: []option{{Name: "All of its messages", Value: link(messagesPath, "agent", id)}}})
	return err
}

// steps adds to a session what was done in it.
func (s *Server) steps(v *visit, item any, d *detail) error {
	one := item.(operational.Session)
	if s.services.Timeline == nil {
		return nil
	}
	found, err := s.services.Timeline.Timeline(v.Context(), feed.TimelineQuery{Agent: one.AgentID, Range: s.rangeOf(one), Limit: feed.MaxMoments})
	slices.Reverse(found.Moments)
	steps := block{ID: "steps", Title: "Step by step", Live: "*", Moments: found.Moments, Empty: "Nothing is known of this session’s time."}
	if found.Next != "" {
		steps.More = []option{{Name: "Its earlier steps", Value: link(timelinePath, "agent", one.AgentID, "range", s.rangeOf(one))}}
	}
	d.Blocks = append(d.Blocks, steps)
	return err
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
