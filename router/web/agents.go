package web

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"skillrouter/comms"
	"skillrouter/internal/check"
	"skillrouter/internal/errs"
	"skillrouter/operational"
	"skillrouter/router/feed"
)

const (
	// maxSkip bounds how far a list without a cursor is paged: the bound of agents.
	maxSkip = comms.MaxAgents
	// mostOnline is how many agents are counted in the navigation.
	mostOnline = 200
)

// online counts the agents that are at work.
func (s *Server) online(v *visit) (int, error) {
	if s.services.Presence == nil {
		return 0, nil
	}
	found, err := s.services.Presence.Agents(v.Context(), operational.AgentFilter{State: operational.AgentOnline, Project: v.value("project"), Limit: mostOnline})
	return len(found), err
}

func (s *Server) agentThings() {
	s.notices["sent"] = "The signal is stored, and was handed over to a stream that listens."
	s.notices["waits"] = "The signal is stored. The agent has no open stream and finds it when it comes."
	s.own["agent"] = func(t *thing) {
		t.read, t.more = s.agent, s.aroundAgent
		t.row = func(v *visit, item any, of *record) {
			a := item.(operational.Agent)
			of.set("unread", s.unreadOf(v, a.ID))
			if a.ShouldStop {
				of.set("status", operational.SignalStop)
			}
		}
		if s.services.Mailbox == nil {
			t.Acts = nil
		}
		t.do = s.signal
	}
	s.own["session"] = func(t *thing) { t.more = s.steps }
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

// unreadOf is how many messages wait for an agent; empty: none, or whoever looks may not know. That it cannot be read is no reason to show no agent.
func (s *Server) unreadOf(v *visit, id string) string {
	if v.principal().ActAs(id) != nil {
		return ""
	}
	n, err := s.services.Presence.Unread(v.Context(), id)
	if n == 0 || err != nil {
		return ""
	}
	return count(n)
}

// agent shows an agent. Others may write to a name, or give it a task, before
// it ever checks in: such a name has a page too, which says so.
func (s *Server) agent(v *visit, id string) (*detail, error) {
	a, err := s.services.Presence.Agent(v.Context(), id)
	never := errs.CodeOf(err) == errs.NotFound
	if err != nil && !never {
		return nil, err
	}
	if never {
		a.ID = id
	}
	d, err := s.detailFrom(v, s.things["agent"], id, a)
	if err == nil && never {
		d.Warning, d.Acts = "No agent of this name has checked in. A signal waits for it until it comes.", d.Acts[:min(1, len(d.Acts))]
	}
	return d, err
}

// aroundAgent adds to an agent what happened to it, and its messages.
func (s *Server) aroundAgent(v *visit, item any, d *detail) error {
	id := item.(operational.Agent).ID
	if s.services.Timeline != nil {
		lanes, moments, err := s.lanesOf(v, feed.TimelineQuery{Agent: id}, spanOf(v.value("range")))
		if err != nil {
			return err
		}
		told, err := s.moments(v, feed.TimelineQuery{Agent: id, Kinds: []string{feed.KindTold}}, latestMoments)
		if err != nil {
			return err
		}
		if i := slices.IndexFunc(told, func(m feed.Moment) bool { return m.Start }); i >= 0 {
			d.Blocks = append(d.Blocks, block{ID: "begin", Title: "Told at its start", Moments: told[i : i+1]})
		}
		if len(moments) == 0 {
			if moments, err = s.moments(v, feed.TimelineQuery{Agent: id}, latestMoments); err != nil {
				return err
			}
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

// signal sends a signal to one agent: what its form says, or stop, which should_stop comes of.
func (s *Server) signal(v *visit, verb, id string) error {
	if err := check.AgentID("id", id); err != nil { // without one it would be for everybody
		return err
	}
	if verb != "stop" {
		return s.send(v, operational.MessageDraft{To: id, Signal: v.value("signal"), ThreadID: v.value("thread_id")})
	}
	defer func() { v.done = "" }() // the act has a sentence of its own
	return s.send(v, operational.MessageDraft{To: id, Signal: operational.SignalStop, AckRequired: true})
}

// send sends what a form says.
func (s *Server) send(v *visit, draft operational.MessageDraft) (err error) {
	if v.value("signal") == operational.SignalStop {
		return errs.InvalidField("signal", "of this name is sent by the button that asks first")
	}
	if draft.Priority, err = v.signed("priority"); err != nil {
		return err
	}
	said := map[string]string{}
	for _, member := range []string{"text", "reason"} {
		if text := v.value(member); text != "" {
			said[member] = text
		}
	}
	if len(said) > 0 {
		draft.Context, _ = json.Marshal(said) // texts alone cannot fail
	}
	draft.From, draft.AckRequired = v.sender(), draft.AckRequired || v.value("ack_required") != ""
	sent, err := s.services.Mailbox.Send(v.Context(), draft)
	v.done = "waits"
	if sent.Delivered {
		v.done = "sent"
	}
	return err
}

// boardAgent is whom signals are from that somebody sends who is no agent.
const boardAgent = "dashboard"

// sender is whom a signal of whoever is logged in is from.
func (v *visit) sender() string { return cmp.Or(v.principal().AgentID, boardAgent) }

// number is a field that is 0 or more, and 0 if it is not there.
func (v *visit) number(name string, most int) (int, error) {
	n, err := v.signed(name)
	if err != nil || n < 0 || n > most {
		return 0, errs.InvalidField(name, "must be a whole number between 0 and %d", most)
	}
	return n, nil
}

// signed is a field that is a whole number, and 0 if it is not there. Its bounds are the service's.
func (v *visit) signed(name string) (int, error) {
	n, err := strconv.Atoi(cmp.Or(v.value(name), "0"))
	if err != nil {
		return 0, errs.InvalidField(name, "must be a whole number")
	}
	return n, nil
}

// with is the page's own address with another value of one field; empty takes it out.
func (v *visit) with(name, value string) string {
	query := url.Values{}
	if v.Method == http.MethodGet {
		for field, values := range v.Form {
			if field != "done" {
				query[field] = values
			}
		}
	}
	query.Del(name)
	if value != "" {
		query.Set(name, value)
	}
	return pathWith(v.URL.Path, query)
}
