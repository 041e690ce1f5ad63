package httpapi

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"skillrouter"
	"skillrouter/learning"
	"skillrouter/operational"
	"skillrouter/router"
)

const sessionsPath = "/api/sessions"

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

	SessionID  string                    `json:"session_id,omitempty" doc:"The same as id"`
	Summary    string                    `json:"summary,omitempty" doc:"end"`
	Successor  string                    `json:"successor,omitempty" doc:"end: the agent that goes on; empty: whoever does"`
	Reassign   bool                      `json:"reassign,omitempty" doc:"end: hand the agent's tasks on: a captain to the successor, an agent back to all"`
	Transcript *learning.TranscriptDraft `json:"transcript,omitempty" doc:"end: what was said, to be consolidated"`
}

// SessionAnswer is the answer of what starts or ends a session.
type SessionAnswer struct {
	SessionID string `json:"session_id" doc:"The same as id"`
	operational.Session
	Resumed       bool                   `json:"resumed,omitempty" doc:"It was open already"`
	Inherited     *operational.Session   `json:"inherited,omitempty" doc:"The latest session that left something to this one"`
	AlsoInherited []string               `json:"also_inherited,omitempty" doc:"The ids of the others"`
	Ended         *operational.Session   `json:"ended,omitempty" doc:"The agent's session that was still open and was ended by this one"`
	AlreadyEnded  bool                   `json:"already_ended,omitempty" doc:"It had ended before, and nothing was changed"`
	Reassigned    []int64                `json:"reassigned,omitempty" doc:"Tasks that the successor holds now"`
	Released      []int64                `json:"released,omitempty" doc:"Tasks that wait for anybody now"`
	Consolidated  *learning.Consolidated `json:"consolidated,omitempty"`
	Notices       []string               `json:"notices,omitempty" doc:"What did not go as asked; the session has ended all the same"`
	Redacted      []string               `json:"redacted,omitempty" doc:"Kinds of secret that were cut out of what this call said"`
}

// SessionList is the answer of GET /api/sessions.
type SessionList struct {
	Sessions []operational.Session `json:"sessions"`
	Count    int                   `json:"count"`
}

// sessionSelection selects sessions.
type sessionSelection struct {
	AgentID   string                    `query:"agent_id"`
	Persona   string                    `query:"persona"`
	Project   string                    `query:"project"`
	Status    operational.SessionStatus `query:"status" doc:"open or ended"`
	Successor string                    `query:"successor" doc:"Only those that were handed to this agent"`
	Waiting   bool                      `query:"waiting" doc:"Only those whose hand-over nobody has begun with yet"`
	Limit     int                       `query:"limit" doc:"1 to 1000; 0: 100"`
}

func startedAnswer(s router.SessionStarted) SessionAnswer {
	return SessionAnswer{SessionID: s.ID, Session: s.Session, Resumed: s.Resumed, Inherited: s.Inherited, AlsoInherited: s.AlsoInherited, Ended: s.Ended, Redacted: s.Redacted}
}

func endedAnswer(s router.SessionEnded) SessionAnswer {
	return SessionAnswer{
		SessionID: s.ID, Session: s.Session, AlreadyEnded: s.AlreadyEnded, Reassigned: s.Reassigned, Released: s.Released,
		Consolidated: s.Consolidated, Notices: s.Notices, Redacted: s.Redacted,
	}
}

func (s *Server) sessionRoutes() {
	sessions := s.services.Sessions
	if sessions == nil {
		return
	}
	op := func(method, path, summary string) huma.Operation {
		return operation(method, sessionsPath+path, "sessions", summary)
	}

	start := op(http.MethodPost, "", "Begin a session, or with action end, end one; 200 if nothing new began")
	start.DefaultStatus = http.StatusCreated
	register(s, start, func(ctx context.Context, in *struct{ Body SessionCall }) (*answer[SessionAnswer], error) {
		call := in.Body
		if call.ID == "" {
			call.ID = call.SessionID
		}
		switch call.Action {
		case "", actionStart:
			started, err := sessions.Start(ctx, router.SessionDraft{
				ID: call.ID, AgentID: call.AgentID, Persona: call.Persona, Project: call.Project, Goal: call.Goal, Data: call.Data,
			})
			a := &answer[SessionAnswer]{Status: http.StatusCreated, Body: startedAnswer(started)}
			if started.Resumed {
				a.Status = http.StatusOK
			}
			return a, err
		case actionEnd:
			ended, err := sessions.End(ctx, call.ID, router.SessionEnd{
				AgentID: call.AgentID, Summary: call.Summary, Successor: call.Successor, Reassign: call.Reassign, Transcript: call.Transcript,
			})
			return &answer[SessionAnswer]{Status: http.StatusOK, Body: endedAnswer(ended)}, err
		}
		return nil, skillrouter.InvalidField("action", "must be %s or %s", actionStart, actionEnd)
	})
	register(s, op(http.MethodPost, "/{id}/end", "End a session: what is open goes to the successor; current is the one that the agent is in"),
		func(ctx context.Context, in *struct {
			ID   string `path:"id"`
			Body router.SessionEnd
		},
		) (*answer[SessionAnswer], error) {
			ended, err := sessions.End(ctx, in.ID, in.Body)
			return reply(endedAnswer(ended)), err
		})
	register(s, op(http.MethodGet, "", "List sessions, the latest first"),
		func(ctx context.Context, in *sessionSelection) (*answer[SessionList], error) {
			list, err := sessions.List(ctx, operational.SessionFilter{
				AgentID: in.AgentID, Persona: in.Persona, Project: in.Project, Status: in.Status, Successor: in.Successor, Waiting: in.Waiting, Limit: in.Limit,
			})
			return reply(SessionList{Sessions: emptied(list), Count: len(list)}), err
		})
	register(s, op(http.MethodGet, "/handover", "The session whose hand-over an agent works on, or that waits for it"),
		func(ctx context.Context, in *struct {
			AgentID string `query:"agent_id" doc:"Default: the token's agent"`
		},
		) (*answer[operational.Session], error) {
			session, err := sessions.Handover(ctx, in.AgentID)
			return reply(session), err
		})
	register(s, op(http.MethodGet, "/{id}", "One session, with what it left undone"),
		func(ctx context.Context, in *struct {
			ID string `path:"id"`
		},
		) (*answer[operational.Session], error) {
			session, err := sessions.Session(ctx, in.ID)
			return reply(session), err
		})
}
