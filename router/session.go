package router

import (
	"context"
	"encoding/json"

	"skillrouter/learning"
	"skillrouter/operational"
)

// SessionService is what can be done with sessions. Sessions implements it
// beside the stores, comms/client over HTTP.
type SessionService interface {
	// Start begins a session of an agent and hands it what the last one left to it. An
	// open session of the agent is ended first. It needs ScopeAgent.
	Start(ctx context.Context, draft SessionDraft) (SessionStarted, error)
	// End ends a session, gathers what is open and hands it to the successor; with a
	// transcript it consolidates. Ending it again changes nothing. It needs ScopeAgent.
	End(ctx context.Context, id string, end SessionEnd) (SessionEnded, error)
	// Session returns one session. It needs ScopeRead.
	Session(ctx context.Context, id string) (operational.Session, error)
	// List returns sessions, the latest first. It needs ScopeRead.
	List(ctx context.Context, filter SessionFilter) ([]operational.Session, error)
}

// SessionDraft is what a client may say of a session that begins.
type SessionDraft struct {
	ID      string          `json:"id,omitempty"` // the client's own; empty: one is given
	AgentID string          `json:"agent_id,omitempty"`
	Persona string          `json:"persona,omitempty"`
	Project string          `json:"project,omitempty"`
	Goal    string          `json:"goal,omitempty"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// SessionStarted is the answer to Start.
type SessionStarted struct {
	operational.Session
	// Inherited is what the last session that named this agent its successor left.
	Inherited *operational.Session `json:"inherited,omitempty"`
}

// SessionEnd is what a client may say at the end of a session.
type SessionEnd struct {
	Summary    string                    `json:"summary,omitempty"`
	Successor  string                    `json:"successor,omitempty"`
	Transcript *learning.TranscriptDraft `json:"transcript,omitempty"`
}

// SessionEnded is the answer to End.
type SessionEnded struct {
	operational.Session
	Consolidated *learning.Consolidated `json:"consolidated,omitempty"`
}

// SessionFilter selects sessions; empty fields select everything.
type SessionFilter struct {
	AgentID string
	Project string
	Status  operational.SessionStatus
	Limit   int
}
