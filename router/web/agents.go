package web

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"skillrouter/comms"
	"skillrouter/internal/check"
	"skillrouter/internal/errs"
	"skillrouter/internal/principal"
	"skillrouter/operational"
	"skillrouter/router/feed"
)

const (
	agentsPath = "/ui/agents"
	agentPath  = "/ui/agent"
	// pageRows is how many rows a page of a list has.
	pageRows = 50
	// maxSkip bounds how far a list without a cursor is paged: the bound of agents.
	maxSkip = comms.MaxAgents
)

func (s *Server) agentPages() {
	s.page(agentsPath, "agents.html", "Agents", s.agents)
	s.page(agentPath, "agent.html", "Agent", s.agent)
	s.section(operations, "Agents", agentsPath)
	if s.services.Mailbox == nil {
		return
	}
	s.page("/ui/agent/stop", "stop.html", "Stop an agent", s.stopForm)
	s.action("/ui/agent/stop", "/ui/agent/stop", s.stop)
	s.action("/ui/agent/signal", agentPath, s.signal)
	s.notice("stopped", "The agent was told to stop. It hears of it at its next check-in, or at once if it listens.")
	s.notice("sent", "The signal is stored, and was handed over to a stream that listens.")
	s.notice("waits", "The signal is stored. The agent has no open stream and finds it when it comes.")
}

// agentList is what the page of the agents shows.
type agentList struct {
	Agents []agentRow
	Counts []agentCount
	Unread bool // whoever looks may know how many messages wait
	pager
}

type agentRow struct {
	operational.Agent
	Unread int
	May    bool // whoever looks may know of its messages
}

type agentCount struct {
	State operational.AgentState
	Path  string
	On    bool
}

func (s *Server) agents(v *visit) (any, error) {
	skip, err := v.number("skip", maxSkip)
	if err != nil {
		return nil, err
	}
	filter := operational.AgentFilter{
		State: operational.AgentState(v.value("state")), Project: v.value("project"), Task: v.value("task"), Skip: skip, Limit: pageRows + 1,
	}
	found, err := s.services.Presence.Agents(v.Context(), filter)
	if err != nil {
		return nil, err
	}
	list := agentList{}
	if len(found) > pageRows {
		found, list.Older = found[:pageRows], v.with("skip", strconv.Itoa(skip+pageRows))
	}
	if skip > 0 {
		before := max(skip-pageRows, 0)
		list.Newer = v.with("skip", "")
		if before > 0 {
			list.Newer = v.with("skip", strconv.Itoa(before))
		}
	}
	for _, one := range found {
		row := agentRow{Agent: one}
		if s.services.Unread != nil && v.principal().ActAs(one.ID) == nil {
			if row.Unread, err = s.services.Unread.Unread(v.Context(), one.ID); err != nil && errs.CodeOf(err) != errs.NotFound {
				return nil, err
			}
			row.May, list.Unread = true, true
		}
		list.Agents = append(list.Agents, row)
	}
	for _, state := range append([]operational.AgentState{""}, operational.AgentStates()...) {
		list.Counts = append(list.Counts, agentCount{state, link(agentsPath, "state", string(state), "project", filter.Project, "task", filter.Task), state == filter.State})
	}
	return list, nil
}

// agentDetail is what the page of one agent shows.
type agentDetail struct {
	agentRow
	Tasks    []operational.Task
	Messages []said // the latest first
	Sessions []operational.Session
	Moments  []feed.Moment // the latest first
	Begin    *feed.Moment  // what it was told when it last began
	MaySend  bool
	MayRead  bool
	Never    bool // it never checked in: it is a name in messages, tasks and the like
	Signals  []string
}

// agent shows an agent. Others may write to a name, or give it a task, before
// it ever checks in: such a name has a page too, which says so.
func (s *Server) agent(v *visit) (any, error) {
	id := v.value("id")
	one, err := s.services.Presence.Agent(v.Context(), id)
	never := errs.CodeOf(err) == errs.NotFound
	if never {
		one, err = operational.Agent{ID: id}, nil
	}
	if err != nil {
		return nil, err
	}
	v.title = one.ID
	d := agentDetail{
		Never: never, agentRow: agentRow{Agent: one}, MaySend: s.services.Mailbox != nil && v.principal().Has(principal.ScopeAgent),
		Signals: []string{operational.SignalMessage, operational.SignalPause, operational.SignalResume},
	}
	if s.services.Tasks != nil {
		open := true
		if d.Tasks, err = s.services.Tasks.List(v.Context(), operational.TaskFilter{AgentID: id, Open: &open, Limit: 20}); err != nil {
			return nil, err
		}
	}
	d.MayRead = v.principal().ActAs(id) == nil
	if d.MayRead && !never && s.services.Unread != nil {
		if d.Unread, err = s.services.Unread.Unread(v.Context(), id); err != nil {
			return nil, err
		}
		d.May = true
	}
	if d.MayRead && s.services.Log != nil {
		page, err := s.services.Log.Log(v.Context(), operational.LogQuery{Agent: id, Limit: 10})
		if err != nil {
			return nil, err
		}
		reached, err := s.services.Log.Reached(v.Context(), page.Messages)
		if err != nil {
			return nil, err
		}
		for _, m := range page.Messages {
			d.Messages = append(d.Messages, s.said(m, reached[m.Seq]))
		}
	}
	if s.services.Sessions != nil {
		if d.Sessions, err = s.services.Sessions.List(v.Context(), operational.SessionFilter{AgentID: id, Limit: 5}); err != nil {
			return nil, err
		}
	}
	if d.Moments, err = s.latest(v, feed.TimelineQuery{Agent: id}); err != nil {
		return nil, err
	}
	told, err := s.latest(v, feed.TimelineQuery{Agent: id, Kinds: []string{feed.KindTold}})
	if i := slices.IndexFunc(told, func(m feed.Moment) bool { return m.Start }); i >= 0 {
		d.Begin = &told[i]
	}
	return d, err
}

func (s *Server) stopForm(v *visit) (any, error) {
	one, err := s.services.Presence.Agent(v.Context(), v.value("id"))
	v.title = "Stop " + one.ID
	return one, err
}

// stop sends the signal that should_stop comes of.
func (s *Server) stop(v *visit) (string, error) {
	id := v.value("id")
	if err := check.AgentID("id", id); err != nil { // without one it would be for everybody
		return "", err
	}
	if v.value("sure") == "" {
		return "", errs.InvalidField("sure", "must be ticked")
	}
	said := map[string]string{}
	if reason := v.value("reason"); reason != "" {
		said["reason"] = reason
	}
	text, _ := json.Marshal(said) // texts alone cannot fail
	_, err := s.services.Mailbox.Send(v.Context(), operational.MessageDraft{From: v.sender(), To: id, Signal: operational.SignalStop, Context: text, AckRequired: true})
	return link(agentPath, "id", id, "done", "stopped"), err
}

// signal sends a signal to one agent, or from the page of the messages to all.
func (s *Server) signal(v *visit) (string, error) {
	id := v.value("id")
	if err := check.AgentID("id", id); err != nil {
		return "", err
	}
	sent, err := s.send(v, id, v.value("signal"), v.value("thread_id"))
	return link(agentPath, "id", id, "done", sent), err
}

// send sends what a form says, and returns the code of what to say of it.
func (s *Server) send(v *visit, to, signal, thread string) (string, error) {
	if signal == operational.SignalStop {
		return "", errs.InvalidField("signal", "of this name is sent by the button that asks first")
	}
	priority, err := v.signed("priority")
	if err != nil {
		return "", err
	}
	draft := operational.MessageDraft{
		From: v.sender(), To: to, Signal: signal, Priority: priority, ThreadID: thread, AckRequired: v.value("ack_required") != "",
	}
	if text := v.value("text"); text != "" {
		draft.Context, _ = json.Marshal(map[string]string{"text": text}) // texts alone cannot fail
	}
	sent, err := s.services.Mailbox.Send(v.Context(), draft)
	if err != nil || sent.Delivered {
		return "sent", err
	}
	return "waits", nil
}

// boardAgent is whom signals are from that somebody sends who is no agent.
const boardAgent = "dashboard"

// sender is whom a signal of whoever is logged in is from.
func (v *visit) sender() string {
	if id := v.principal().AgentID; id != "" {
		return id
	}
	return boardAgent
}

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
