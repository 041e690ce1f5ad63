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
	s.notice("sent", "The signal is stored, and was handed over to a stream that listens.")
	s.notice("waits", "The signal is stored. The agent has no open stream and finds it when it comes.")
	s.own["agent"] = func(t *thing) bool {
		t.read = s.agent
		t.row = func(v *visit, item any, of record) {
			a := item.(operational.Agent)
			of["unread"], _ = s.unreadOf(v, a.ID) // who waits for it is no reason to show no agent
			of["status"] = stopOr(a)
		}
		if s.services.Mailbox == nil {
			t.Acts = nil
		}
		for i, do := range map[int]func(*visit, string) error{0: s.signal, 1: s.stop} {
			if i < len(t.Acts) {
				t.Acts[i].do = do
			}
		}
		return s.services.Presence != nil
	}
	s.own["session"] = func(t *thing) bool {
		t.more = s.steps
		return s.services.Sessions != nil
	}
}

// steps adds to a session what was done in it.
func (s *Server) steps(v *visit, _ string, item any, _ record, d *detail) error {
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

// stopOr is what an agent says of itself, unless it was told to stop.
func stopOr(a operational.Agent) string {
	if a.ShouldStop {
		return operational.SignalStop
	}
	return a.Status
}

// unreadOf is how many messages wait for an agent; empty: none, or whoever looks may not know.
func (s *Server) unreadOf(v *visit, id string) (string, error) {
	if s.services.Unread == nil || v.principal().ActAs(id) != nil {
		return "", nil
	}
	n, err := s.services.Unread.Unread(v.Context(), id)
	if n == 0 {
		return "", err
	}
	return count(n), err
}

func unreadPath(unread, id string) string {
	if unread == "" {
		return ""
	}
	return link(messagesPath, "agent", id)
}

// agent shows an agent. Others may write to a name, or give it a task, before
// it ever checks in: such a name has a page too, which says so.
func (s *Server) agent(v *visit, id string) (*detail, error) {
	ctx := v.Context()
	a, err := s.services.Presence.Agent(ctx, id)
	never := errs.CodeOf(err) == errs.NotFound
	if never {
		a, err = operational.Agent{ID: id}, nil
	}
	if err != nil {
		return nil, err
	}
	d := &detail{Title: a.ID, Chips: []string{string(a.State), stopOr(a)}}
	if never {
		d.Warning = "No agent of this name has checked in. A signal waits for it until it comes."
	} else if d.Facts, err = v.facts(a, "agent_id", "state", "status", "should_stop"); err != nil {
		return nil, err
	}
	if d.Acts = s.acts(v, s.things["agent"], id, nil); never && len(d.Acts) > 1 {
		d.Acts = d.Acts[:1]
	}
	unread, err := s.unreadOf(v, id)
	if err != nil && !never {
		return nil, err
	}
	d.Facts = append(d.Facts, factOf("Unread", unread, unreadPath(unread, id))...)
	if s.services.Timeline != nil {
		lanes, moments, err := s.lanesOf(v, feed.TimelineQuery{Agent: id}, spanOf(v.value("range")))
		if err != nil {
			return nil, err
		}
		told, err := s.moments(v, feed.TimelineQuery{Agent: id, Kinds: []string{feed.KindTold}}, latestMoments)
		if err != nil {
			return nil, err
		}
		if i := slices.IndexFunc(told, func(m feed.Moment) bool { return m.Start }); i >= 0 {
			d.Blocks = append(d.Blocks, block{ID: "begin", Title: "Told at its start", Moments: told[i : i+1]})
		}
		if len(moments) == 0 {
			if moments, err = s.moments(v, feed.TimelineQuery{Agent: id}, latestMoments); err != nil {
				return nil, err
			}
		}
		more := []option{{Name: "All of it", Value: link(timelinePath, "agent", id)}}
		if !v.principal().Walled() {
			more = append(more, option{Name: "what it was stopped from", Value: link(timelinePath, "agent", id, "kind", feed.KindBlock)}, option{Name: "what it was told", Value: link(timelinePath, "agent", id, "kind", feed.KindTold)})
		}
		d.Blocks = append(d.Blocks, block{ID: "moments", Title: "What happened", Live: "*", Lanes: lanes, Moments: moments[:min(len(moments), latestMoments)], Empty: "Nothing yet.", More: more})
	}
	if s.services.Tasks != nil {
		open := true
		tasks, err := s.services.Tasks.List(ctx, operational.TaskFilter{AgentID: id, Open: &open, Limit: 20})
		if err != nil {
			return nil, err
		}
		found, _, _ := items(tasks)
		rows, err := s.rowsFrom(v, s.things["task"], found)
		if err != nil {
			return nil, err
		}
		d.Blocks = append(d.Blocks, block{ID: "tasks", Title: "Open tasks", Live: "task.", Empty: "This agent holds no open task.", Table: &table{Columns: columnsOf(s.things["task"].Columns...), Rows: rows}})
	}
	if v.principal().ActAs(id) == nil && s.services.Log != nil {
		said, err := s.saidIn(v, operational.LogQuery{Agent: id, Limit: 10})
		if err != nil {
			return nil, err
		}
		d.Blocks = append(d.Blocks, block{ID: "messages", Title: "Messages", Live: "message.", Said: said, Empty: "There are no messages here.", More: []option{{Name: "All of its messages", Value: link(messagesPath, "agent", id)}}})
	}
	return d, nil
}

// factOf is a fact, unless there is nothing to say.
func factOf(name, text, path string) []shownFact {
	if text == "" {
		return nil
	}
	return []shownFact{{Name: name, Text: text, Path: path}}
}

// stop sends the signal that should_stop comes of.
func (s *Server) stop(v *visit, id string) error {
	if err := check.AgentID("id", id); err != nil { // without one it would be for everybody
		return err
	}
	said := map[string]string{}
	if reason := v.value("reason"); reason != "" {
		said["reason"] = reason
	}
	text, _ := json.Marshal(said) // texts alone cannot fail
	_, err := s.services.Mailbox.Send(v.Context(), operational.MessageDraft{From: v.sender(), To: id, Signal: operational.SignalStop, Context: text, AckRequired: true})
	return err
}

// signal sends a signal to one agent.
func (s *Server) signal(v *visit, id string) error {
	if err := check.AgentID("id", id); err != nil {
		return err
	}
	return s.send(v, id, v.value("signal"), v.value("thread_id"))
}

// send sends what a form says.
func (s *Server) send(v *visit, to, signal, thread string) error {
	if signal == operational.SignalStop {
		return errs.InvalidField("signal", "of this name is sent by the button that asks first")
	}
	priority, err := v.signed("priority")
	if err != nil {
		return err
	}
	draft := operational.MessageDraft{From: v.sender(), To: to, Signal: signal, Priority: priority, ThreadID: thread, AckRequired: v.value("ack_required") != ""}
	if text := v.value("text"); text != "" {
		draft.Context, _ = json.Marshal(map[string]string{"text": text}) // texts alone cannot fail
	}
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
	text := v.value(name)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
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
	if len(query) == 0 {
		return v.URL.Path
	}
	return v.URL.Path + "?" + query.Encode()
}
