package httpapi

import (
	"cmp"
	"context"
	"encoding/json"

	"skillrouter/internal/errs"
	"skillrouter/learning/history"
	"skillrouter/operational"
	"skillrouter/router/session"
)

// The actions of POST /api/sessions.
const (
	actionStart = "start"
	actionEnd   = "end"
)

// SessionCall is the body of POST /api/sessions.
type SessionCall struct {
	Action  string          `json:"action,omitempty" doc:"start (the default) or end"`
	ID      string          `json:"id,omitempty" doc:"start: the client's own id. end: which session; none: the one that the agent is in"`
	AgentID string          `json:"agent_id,omitempty" doc:"Default: the token's agent"`
	Persona string          `json:"persona,omitempty" doc:"start: default if empty"`
	Project string          `json:"project,omitempty" doc:"start"`
	Goal    string          `json:"goal,omitempty" doc:"start"`
	Data    json.RawMessage `json:"data,omitempty" doc:"start: an object"`

	SessionID  string                   `json:"session_id,omitempty" doc:"The same as id"`
	Summary    string                   `json:"summary,omitempty" doc:"end"`
	Successor  string                   `json:"successor,omitempty" doc:"end: the agent that goes on; empty: whoever does"`
	Reassign   bool                     `json:"reassign,omitempty" doc:"end: hand the agent's tasks on: a captain to the successor, an agent back to all"`
	Transcript *history.TranscriptDraft `json:"transcript,omitempty" doc:"end: what was said, to be consolidated"`
}

// SessionAnswer is the answer of what starts or ends a session.
type SessionAnswer struct {
	SessionID string `json:"session_id" doc:"The same as id"`
	operational.Session
	Resumed       bool                  `json:"resumed,omitempty" doc:"It was open already"`
	Inherited     *operational.Session  `json:"inherited,omitempty" doc:"The latest session that left something to this one"`
	AlsoInherited []string              `json:"also_inherited,omitempty" doc:"The ids of the others"`
	Ended         *operational.Session  `json:"ended,omitempty" doc:"The agent's session that was still open and was ended by this one"`
	AlreadyEnded  bool                  `json:"already_ended,omitempty" doc:"It had ended before, and nothing was changed"`
	Reassigned    []int64               `json:"reassigned,omitempty" doc:"Tasks that the successor holds now"`
	Released      []int64               `json:"released,omitempty" doc:"Tasks that wait for anybody now"`
	Consolidated  *history.Consolidated `json:"consolidated,omitempty"`
	Notices       []string              `json:"notices,omitempty" doc:"What did not go as asked; the session has ended all the same"`
	Redacted      []string              `json:"redacted,omitempty" doc:"Kinds of secret that were cut out of what this call said"`

	began bool // a session, by this call
}

func startedAnswer(s session.Started) SessionAnswer {
	return SessionAnswer{SessionID: s.ID, Session: s.Session, Resumed: s.Resumed, Inherited: s.Inherited, AlsoInherited: s.AlsoInherited, Ended: s.Ended, Redacted: s.Redacted, began: !s.Resumed}
}

func endedAnswer(s session.Ended) SessionAnswer {
	return SessionAnswer{
		SessionID: s.ID, Session: s.Session, AlreadyEnded: s.AlreadyEnded, Reassigned: s.Reassigned, Released: s.Released,
		Consolidated: s.Consolidated, Notices: s.Notices, Redacted: s.Redacted,
	}
}

func (s *Server) sessionRoutes(sessions session.Service) {
	offer(s, session.Operations, sessions)
	at := s.at("sessions", "/api/sessions")
	began := func(a SessionAnswer) bool { return a.began }
	at.post("", "Begin a session, or with action end, end one; 200 if nothing new began",
		createdIf(sent(func(ctx context.Context, call SessionCall) (SessionAnswer, error) { return call.do(ctx, sessions) }), began))
	at.post("/{id}/end", "End a session: what is open goes to the successor; current is the one that the agent is in",
		changedBy(func(ctx context.Context, id string, end session.End) (SessionAnswer, error) {
			ended, err := sessions.End(ctx, id, end)
			return endedAnswer(ended), err
		}))
}

// do starts or ends a session.
func (c SessionCall) do(ctx context.Context, sessions session.Service) (SessionAnswer, error) {
	id := cmp.Or(c.ID, c.SessionID)
	switch c.Action {
	case "", actionStart:
		started, err := sessions.Start(ctx, session.Draft{ID: id, AgentID: c.AgentID, Persona: c.Persona, Project: c.Project, Goal: c.Goal, Data: c.Data})
		return startedAnswer(started), err
	case actionEnd:
		ended, err := sessions.End(ctx, id, session.End{
			AgentID: c.AgentID, Summary: c.Summary, Successor: c.Successor, Reassign: c.Reassign, Transcript: c.Transcript,
		})
		return endedAnswer(ended), err
	}
	return SessionAnswer{}, errs.InvalidField("action", "must be %s or %s", actionStart, actionEnd)
}
