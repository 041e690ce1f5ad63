// Package routertest is the contract of the router's services as test suites.
// Whatever implements them (beside the databases, over HTTP) must pass. It
// owns what clients may rely on, and knows no implementation.
package routertest

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning/episode"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/router/session"
)

// World is a router as one principal sees it.
type World struct {
	Sessions session.Service
	Tasks    operational.TaskService
	Episodes episode.Service
}

var (
	agentA  = principal.Principal{AgentID: "a", Scopes: []principal.Scope{principal.ScopeAgent}}
	agentB  = principal.Principal{AgentID: "b", Scopes: []principal.Scope{principal.ScopeAgent}}
	reader  = principal.Principal{AgentID: "r", Scopes: []principal.Scope{principal.ScopeRead}}
	captain = principal.Principal{AgentID: "captain", Scopes: []principal.Scope{principal.ScopeCaptain}}
)

// place is one empty router under test.
type place struct {
	t  *testing.T
	as func(p principal.Principal) World
}

// call returns the services as a principal, and the context of its calls.
func (p place) call(who principal.Principal) (context.Context, World) {
	return principal.With(p.t.Context(), who), p.as(who)
}

func (p place) start(who principal.Principal, draft session.Draft) session.Started {
	p.t.Helper()
	ctx, w := p.call(who)
	return must(w.Sessions.Start(ctx, draft))(p.t)
}

func (p place) end(who principal.Principal, id string, end session.End) session.Ended {
	p.t.Helper()
	ctx, w := p.call(who)
	return must(w.Sessions.End(ctx, id, end))(p.t)
}

// task makes a task that the agent holds.
func (p place) task(who principal.Principal, title string) operational.Task {
	p.t.Helper()
	ctx, w := p.call(who)
	return must(w.Tasks.Create(ctx, operational.TaskDraft{Title: title, AgentID: who.AgentID}))(p.t)
}

// record records an episode and returns the session that it is in.
func (p place) record(who principal.Principal) string {
	p.t.Helper()
	ctx, w := p.call(who)
	return must(w.Episodes.Record(ctx, episode.Draft{EventType: episode.EventAction, Title: "t", Content: "c"}))(p.t).SessionID
}

// RunSessions runs the contract of session.Service. open gives an empty router.
func RunSessions(t *testing.T, open func(t *testing.T) func(p principal.Principal) World) {
	for _, test := range []struct {
		name string
		run  func(p place)
	}{
		{"a session begins, holds its episodes and ends", beginsAndEnds},
		{"what is open is handed to the successor", handsOver},
		{"without a successor the next one inherits", inheritsUnnamed},
		{"an agent is in one session", oneSession},
		{"tasks are handed on if asked", handsTasksOn},
		{"sessions are listed", listsSessions},
		{"only its agent may end it", keepsOthersOut},
		{"bad input is refused by name", refusesSessions},
		{"starts at once leave one session", startsAtOnce},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(place{t, open(t)}) })
	}
}

func beginsAndEnds(p place) {
	began := p.start(agentA, session.Draft{ID: "s-1", Project: "web", Persona: "coder", Goal: "mend it, password=hunter2x", Data: json.RawMessage(`{ "branch": "x" }`)})
	if began.ID != "s-1" || began.AgentID != "a" || began.Persona != "coder" || began.Status != operational.SessionOpen || began.StartedAt.IsZero() ||
		string(began.Data) != `{"branch":"x"}` || strings.Contains(began.Goal, "hunter2x") || len(began.Redacted) != 1 || began.Inherited != nil || began.EndedAt != nil {
		p.t.Errorf("it begins as %+v", began)
	}
	if in := p.record(agentA); in != "s-1" {
		p.t.Errorf("an episode is in session %q", in)
	}
	if again := p.start(agentA, session.Draft{ID: "s-1"}); !again.Resumed || again.Project != "web" {
		p.t.Errorf("begun again it is %+v", again)
	}
	ended := p.end(agentA, "s-1", session.End{Summary: "half done, password=hunter2x"})
	if ended.Status != operational.SessionEnded || ended.Summary != "half done, password=[redacted: password]" || len(ended.Redacted) != 1 || ended.EndedAt == nil || ended.Handover == nil || ended.Handover.Count() != 0 || ended.AlreadyEnded {
		p.t.Errorf("it ends as %+v", ended)
	}
	if in := p.record(agentA); in == "s-1" {
		p.t.Error("an episode after the end is in the session")
	}
	again := p.end(agentA, "s-1", session.End{Summary: "another", Successor: "b"})
	if !again.AlreadyEnded || again.Summary != "half done, password=[redacted: password]" || again.Successor != "" || !again.EndedAt.Equal(*ended.EndedAt) {
		p.t.Errorf("ended again it is %+v", again)
	}
	ctx, w := p.call(reader)
	if got, err := w.Sessions.Session(ctx, "s-1"); err != nil || got.Summary != "half done, password=[redacted: password]" || got.Goal != began.Goal {
		p.t.Errorf("read back: %+v, %v", got, err)
	}
	ctx, w = p.call(agentA)
	if _, err := w.Sessions.Start(ctx, session.Draft{ID: "s-1"}); errs.CodeOf(err) != errs.Conflict {
		p.t.Errorf("an ended session begins again: %v", err)
	}
}

func handsOver(p place) {
	p.start(agentA, session.Draft{})
	task := p.task(agentA, "Rebuild   the\nindex")
	ended := p.end(agentA, session.Current, session.End{Summary: "go on with the index", Successor: "b"})
	if h := ended.Handover; h.TaskCount != 1 || len(h.Tasks) != 1 || h.Tasks[0].Title != "Rebuild the index" || h.Tasks[0].Kind != "task" {
		p.t.Errorf("it leaves %+v", ended.Handover)
	}
	ctx, w := p.call(agentB)
	if got, err := w.Sessions.Handover(ctx, ""); err != nil || got.ID != ended.ID {
		p.t.Errorf("what waits for the successor: %+v, %v", got, err)
	}
	if other := p.start(agentA, session.Draft{}); other.Inherited != nil {
		p.t.Errorf("who is not the successor inherits %+v", other.Inherited)
	}
	next := p.start(agentB, session.Draft{})
	if next.Inherited == nil || next.Inherited.ID != ended.ID || next.Inherited.Summary != "go on with the index" || next.Previous != ended.ID ||
		next.Inherited.Handover.TaskCount != 1 || next.Inherited.InheritedBy != next.ID {
		p.t.Errorf("the successor begins with %+v", next)
	}
	if got, err := w.Sessions.Handover(ctx, "b"); err != nil || got.ID != ended.ID {
		p.t.Errorf("the hand-over that it works on: %+v, %v", got, err)
	}
	if got, err := w.Tasks.Task(ctx, task.ID); err != nil || got.AgentID != "a" {
		p.t.Errorf("the task was moved: %+v, %v", got, err)
	}
	p.end(agentB, next.ID, session.End{Successor: "c"})
	if later := p.start(agentB, session.Draft{}); later.Inherited != nil {
		p.t.Errorf("it is inherited twice: %+v", later.Inherited)
	}
}

func inheritsUnnamed(p place) {
	first := p.start(agentA, session.Draft{Project: "web", Persona: "coder"})
	p.end(agentA, first.ID, session.End{Summary: "one"})
	if other := p.start(agentB, session.Draft{Project: "web"}); other.Inherited != nil {
		p.t.Errorf("another persona inherits %+v", other.Inherited)
	}
	second := p.start(agentB, session.Draft{Project: "web", Persona: "coder"})
	if second.Inherited == nil || second.Ended == nil || second.Inherited.ID != second.Ended.ID || len(second.AlsoInherited) != 0 {
		p.t.Errorf("the next session begins with %+v", second)
	}
	p.end(agentB, second.ID, session.End{Successor: "b"})
	if again := p.start(agentA, session.Draft{}); again.Inherited == nil || again.Inherited.ID != first.ID {
		p.t.Errorf("the same agent's next session begins with %+v", again.Inherited)
	}
	// One hand-over that names it, and its own.
	open := p.start(agentA, session.Draft{})
	p.start(agentB, session.Draft{})
	named := p.end(agentB, "", session.End{Successor: "a"})
	last := p.start(agentA, session.Draft{})
	if last.Inherited == nil || last.Inherited.ID != named.ID && last.Inherited.ID != open.ID || len(last.AlsoInherited) != 1 {
		p.t.Errorf("of two hand-overs it begins with %+v", last)
	}
}

func oneSession(p place) {
	first := p.start(agentA, session.Draft{Goal: "one"})
	p.task(agentA, "left")
	second := p.start(agentA, session.Draft{Goal: "two"})
	if second.Ended == nil || second.Ended.ID != first.ID || second.Ended.Status != operational.SessionEnded || second.Ended.Handover.TaskCount != 1 {
		p.t.Errorf("the former session: %+v", second.Ended)
	}
	if in := p.record(agentA); in != second.ID {
		p.t.Errorf("an episode is in %q, want %q", in, second.ID)
	}
	ctx, w := p.call(agentA)
	open, err := w.Sessions.List(ctx, operational.SessionFilter{AgentID: "a", Status: operational.SessionOpen})
	if err != nil || len(open) != 1 || open[0].ID != second.ID {
		p.t.Errorf("open: %+v, %v", open, err)
	}
	p.end(agentA, "", session.End{})
	if _, err := w.Sessions.End(ctx, "", session.End{}); errs.CodeOf(err) != errs.NotFound {
		p.t.Errorf("ending no session: %v", err)
	}
}

func handsTasksOn(p place) {
	for _, test := range []struct {
		by     principal.Principal
		holder string
		status operational.TaskStatus
	}{{agentA, "", operational.TaskPending}, {captain, "b", operational.TaskClaimed}} {
		began := p.start(agentA, session.Draft{})
		task := p.task(agentA, "to pass on")
		ended := p.end(test.by, began.ID, session.End{Successor: "b", Reassign: true})
		ctx, w := p.call(captain)
		got, err := w.Tasks.Task(ctx, task.ID)
		if err != nil || got.AgentID != test.holder || got.Status != test.status || len(ended.Reassigned)+len(ended.Released) != 1 || len(ended.Notices) != 0 {
			p.t.Errorf("by %s: %+v, %v; %+v", test.by.AgentID, got, err, ended)
		}
		if again := p.end(test.by, began.ID, session.End{Successor: "b", Reassign: true}); len(again.Reassigned)+len(again.Released) != 0 {
			p.t.Errorf("again: %+v", again)
		}
	}
}

func listsSessions(p place) {
	p.start(agentA, session.Draft{ID: "one", Project: "p"})
	p.end(agentA, "one", session.End{Successor: "b"})
	p.start(agentA, session.Draft{ID: "two", Persona: "coder"})
	p.start(captain, session.Draft{ID: "three", AgentID: "x"})
	ctx, w := p.call(reader)
	for name, test := range map[string]struct {
		filter operational.SessionFilter
		want   string
	}{
		"all":        {operational.SessionFilter{}, "three two one"},
		"agent":      {operational.SessionFilter{AgentID: "a"}, "two one"},
		"status":     {operational.SessionFilter{Status: operational.SessionEnded}, "one"},
		"successor":  {operational.SessionFilter{Successor: "b"}, "one"},
		"waiting":    {operational.SessionFilter{Waiting: true}, "one"},
		"project":    {operational.SessionFilter{Project: "p"}, "one"},
		"persona":    {operational.SessionFilter{Persona: "coder"}, "two"},
		"limit":      {operational.SessionFilter{Limit: 1}, "three"},
		"of nothing": {operational.SessionFilter{AgentID: "nobody"}, ""},
	} {
		list, err := w.Sessions.List(ctx, test.filter)
		var ids []string
		for _, s := range list {
			ids = append(ids, s.ID)
		}
		if got := strings.Join(ids, " "); err != nil || got != test.want {
			p.t.Errorf("%s: %q, %v, want %q", name, got, err, test.want)
		}
	}
}

func keepsOthersOut(p place) {
	began := p.start(agentA, session.Draft{})
	for _, who := range []principal.Principal{agentB, reader} {
		ctx, w := p.call(who)
		if _, err := w.Sessions.End(ctx, began.ID, session.End{}); errs.CodeOf(err) != errs.Forbidden {
			p.t.Errorf("%s ends it: %v", who.AgentID, err)
		}
		if _, err := w.Sessions.End(ctx, "", session.End{AgentID: "a"}); errs.CodeOf(err) != errs.Forbidden {
			p.t.Errorf("%s ends the current one: %v", who.AgentID, err)
		}
		if _, err := w.Sessions.Start(ctx, session.Draft{AgentID: "a"}); errs.CodeOf(err) != errs.Forbidden {
			p.t.Errorf("%s starts one: %v", who.AgentID, err)
		}
	}
	ctx, w := p.call(agentB)
	// S9p: an episode of b in a's open session would show in what a did.
	intruding := episode.Draft{EventType: episode.EventAction, Title: "t", Content: "c", SessionID: began.ID}
	if _, err := w.Episodes.Record(ctx, intruding); errs.CodeOf(err) != errs.Forbidden {
		p.t.Errorf("another records an episode in it: %v", err)
	}
	// S9s: an id that another agent chose first locks nobody out of it: each has a session of its own by it.
	own, err := w.Sessions.Start(ctx, session.Draft{ID: began.ID, Goal: "b's"})
	if err != nil || own.ID == began.ID || own.AgentID != "b" {
		p.t.Fatalf("by the id of another's session begins %+v, %v", own.Session, err)
	}
	if again, err := w.Sessions.Start(ctx, session.Draft{ID: began.ID}); err != nil || !again.Resumed || again.ID != own.ID {
		p.t.Errorf("the same again: %+v, %v", again.Session, err)
	}
	if named, err := w.Sessions.Session(ctx, began.ID); err != nil || named.Goal != "b's" {
		p.t.Errorf("by its own id b sees %+v, %v", named, err)
	}
	if e, err := w.Episodes.Record(ctx, intruding); err != nil || e.SessionID != own.ID {
		p.t.Errorf("by its own id its episode is in %q, %v", e.SessionID, err)
	}
	if ended, err := w.Sessions.End(ctx, began.ID, session.End{}); err != nil || ended.ID != own.ID {
		p.t.Errorf("by its own id b ends %+v, %v", ended.Session, err)
	}
	captains, asCaptain := p.call(captain)
	if e, err := asCaptain.Episodes.Record(captains, intruding); err != nil || e.SessionID != began.ID {
		p.t.Errorf("the captain's episode is in %q, %v", e.SessionID, err)
	}
	if ended := p.end(captain, began.ID, session.End{}); ended.Status != operational.SessionEnded {
		p.t.Errorf("the captain ends it: %+v", ended)
	}
}

func refusesSessions(p place) {
	ctx, w := p.call(agentA)
	long := strings.Repeat("x", 2<<20)
	for name, test := range map[string]struct {
		draft session.Draft
		field string
		code  errs.Code
	}{
		"an id that is a path": {session.Draft{ID: "../x"}, "id", errs.Invalid},
		"an id that is taken":  {session.Draft{ID: "current"}, "id", errs.Invalid},
		"a persona":            {session.Draft{Persona: "../x"}, "persona", errs.Invalid},
		"an agent":             {session.Draft{AgentID: "a b"}, "agent_id", errs.Invalid},
		"a project":            {session.Draft{Project: "a\nb"}, "project", errs.Invalid},
		"a long goal":          {session.Draft{Goal: long[:operational.MaxSessionGoal+1]}, "goal", errs.TooLarge},
		"data that is a list":  {session.Draft{Data: json.RawMessage(`[1]`)}, "data", errs.Invalid},
		"long data":            {session.Draft{Data: json.RawMessage(`{"a":"` + long[:operational.MaxSessionData] + `"}`)}, "data", errs.TooLarge},
	} {
		_, err := w.Sessions.Start(ctx, test.draft)
		refused(p.t, name, err, test.code, test.field)
	}
	began := p.start(agentA, session.Draft{})
	for name, test := range map[string]struct {
		end   session.End
		field string
		code  errs.Code
	}{
		"a summary of 2 MB":     {session.End{Summary: long}, "", errs.TooLarge},
		"a long summary":        {session.End{Summary: long[:operational.MaxSessionSummary+1]}, "summary", errs.TooLarge},
		"a NUL":                 {session.End{Summary: "a\x00b"}, "summary", errs.Invalid},
		"a successor":           {session.End{Successor: "no agent"}, "successor", errs.Invalid},
		"nobody to reassign to": {session.End{Reassign: true}, "successor", errs.Invalid},
	} {
		_, err := w.Sessions.End(ctx, began.ID, test.end)
		refused(p.t, name, err, test.code, test.field)
	}
	_, err := w.Sessions.End(ctx, "nothing-of-the-kind", session.End{})
	refused(p.t, "an unknown session", err, errs.NotFound, "")
	_, err = w.Sessions.Session(ctx, "nothing-of-the-kind")
	refused(p.t, "reading it", err, errs.NotFound, "")
	_, err = w.Sessions.Handover(ctx, "")
	refused(p.t, "no hand-over", err, errs.NotFound, "")
	_, err = w.Sessions.List(ctx, operational.SessionFilter{Status: "asleep"})
	refused(p.t, "a status", err, errs.Invalid, "status")
	_, err = w.Sessions.List(ctx, operational.SessionFilter{Limit: operational.MaxLimit + 1})
	refused(p.t, "a limit", err, errs.Invalid, "limit")
	if got, err := w.Sessions.Session(ctx, began.ID); err != nil || got.Status != operational.SessionOpen {
		p.t.Errorf("after refusals it is %+v, %v", got, err)
	}
}

func startsAtOnce(p place) {
	ctx, w := p.call(agentA)
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			if _, err := w.Sessions.Start(ctx, session.Draft{}); err != nil && errs.CodeOf(err) != errs.Conflict {
				p.t.Error(err)
			}
		})
	}
	wait.Wait()
	open, err := w.Sessions.List(ctx, operational.SessionFilter{Status: operational.SessionOpen})
	if err != nil || len(open) != 1 {
		p.t.Fatalf("open: %+v, %v", open, err)
	}
	if in := p.record(agentA); in != open[0].ID {
		p.t.Errorf("an episode is in %q, open is %q", in, open[0].ID)
	}
}

func refused(t *testing.T, name string, err error, code errs.Code, field string) {
	t.Helper()
	if errs.CodeOf(err) != code || field != "" && errs.FieldOf(err) != field && !strings.Contains(errs.MessageOf(err), field) {
		t.Errorf("%s: %v, want %s %s", name, err, code, field)
	}
}

// must fails the test, and ends it, if there is an error.
func must[T any](value T, err error) func(t *testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}
