package httpapi

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/operation"
	"github.com/skillrouter/skillrouter/learning/history"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/router/session"
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

func startedAnswer(s session.Started, err error) (SessionAnswer, error) {
	return SessionAnswer{
		SessionID: s.ID, Session: s.Session, Resumed: s.Resumed, Inherited: s.Inherited, AlsoInherited: s.AlsoInherited, Ended: s.Ended, Redacted: s.Redacted, began: !s.Resumed,
	}, err
}

func endedAnswer(s session.Ended, err error) (SessionAnswer, error) {
	return SessionAnswer{
		SessionID: s.ID, Session: s.Session, AlreadyEnded: s.AlreadyEnded, Reassigned: s.Reassigned, Released: s.Released,
		Consolidated: s.Consolidated, Notices: s.Notices, Redacted: s.Redacted,
	}, err
}

func (s *Server) sessionRoutes(sessions session.Service) {
	s.mount(operation.Find(session.Service.Start).As(startOrEnd).MakesIf(func(a SessionAnswer) bool { return a.began }), sessions)
	s.mount(operation.Find(session.Service.End).As(func(s session.Service, ctx context.Context, id string, end session.End) (SessionAnswer, error) {
		return endedAnswer(s.End(ctx, id, end))
	}), sessions)
}

// startOrEnd starts or ends a session.
func startOrEnd(sessions session.Service, ctx context.Context, c SessionCall) (SessionAnswer, error) { //nolint:revive // as a method
	id := cmp.Or(c.ID, c.SessionID)
	switch c.Action {
	case "", actionStart:
		return startedAnswer(sessions.Start(ctx, session.Draft{ID: id, AgentID: c.AgentID, Persona: c.Persona, Project: c.Project, Goal: c.Goal, Data: c.Data}))
	case actionEnd:
		return endedAnswer(sessions.End(ctx, id, session.End{
			AgentID: c.AgentID, Summary: c.Summary, Successor: c.Successor, Reassign: c.Reassign, Transcript: c.Transcript,
		}))
	}
	return SessionAnswer{}, errs.InvalidField("action", "must be %s or %s", actionStart, actionEnd)
}
