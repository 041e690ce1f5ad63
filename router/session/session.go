// Package session begins and ends the sessions of agents: what one session leaves open is handed to its successor, and
// a transcript is consolidated at the end. It asks both domains, and knows no transport.
package session

import (
	"context"
	"encoding/json"

	"github.com/skillrouter/skillrouter/internal/operation"
	"github.com/skillrouter/skillrouter/learning/history"
	"github.com/skillrouter/skillrouter/operational"
)

// Service is what can be done with sessions. Sessions implements it
// beside the stores, router/client over HTTP.
type Service interface {
	// Start begins a session of an agent and hands it what the last one left to it. An
	// open session of the agent is ended first; if it is the one of the draft's id, it goes
	// on. It needs ScopeAgent.
	Start(ctx context.Context, draft Draft) (Started, error)
	// End ends a session, gathers what is open and hands it to the successor; with a
	// transcript it consolidates. Current, or no id, is the one that the agent is in.
	// Ending it again changes nothing. It needs ScopeAgent, and the agent of the session.
	End(ctx context.Context, id string, end End) (Ended, error)
	// Session returns one session. It needs ScopeRead. This and the further ones show each
	// session as operational.Session.For does: what waits in the agent's mailbox and among its
	// reminders only to those who may read them there.
	Session(ctx context.Context, id string) (operational.Session, error)
	// List returns sessions, the latest first. It needs ScopeRead.
	List(ctx context.Context, filter operational.SessionFilter) ([]operational.Session, error)
	// Handover returns the session whose hand-over an agent works on: the latest one that
	// waits for it, or the one that its latest session began with. NotFound if there is
	// none. It needs ScopeRead; without an agent it is the caller's own.
	Handover(ctx context.Context, agentID string) (operational.Session, error)
}

// Draft is what a client may say of a session that begins.
type Draft struct {
	ID      string          `json:"id,omitempty" doc:"The session's id; one is given if none is named"` // the client's own; empty, or another agent's already: one is given
	AgentID string          `json:"agent_id,omitempty" actor:"true"`                                    // empty: the caller's own
	Persona string          `json:"persona,omitempty" doc:"Whose memory it is; empty: default"`         // empty: default
	Project string          `json:"project,omitempty" here:"project"`
	Goal    string          `json:"goal,omitempty"`
	Data    json.RawMessage `json:"data,omitempty"` // an object
}

// Started is the answer to Start.
type Started struct {
	operational.Session
	Resumed bool `json:"resumed,omitempty"` // it was open already
	// Inherited is the latest session that left something to this one.
	Inherited *operational.Session `json:"inherited,omitempty"`
	// AlsoInherited are the ids of the others, the latest first.
	AlsoInherited []string `json:"also_inherited,omitempty"`
	// Ended is the agent's session that was still open and was ended by this one.
	Ended *operational.Session `json:"ended,omitempty"`
	// Redacted lists the kinds of secret that were cut out of what the call said that this answers.
	Redacted []string `json:"redacted,omitempty"`
}

// End is what a client may say at the end of a session.
type End struct {
	AgentID   string `json:"agent_id,omitempty" actor:"true"` // whose current session; empty: the caller's own
	Summary   string `json:"summary,omitempty" doc:"What was done, how it stands, what comes next" long:"true"`
	Successor string `json:"successor,omitempty" doc:"The agent that goes on; default: whoever does"` // an agent; empty: whoever goes on
	// Reassign hands the agent's tasks on: a captain's call to the successor, an agent's
	// own call back to all, because an agent may give work up and not put it upon another.
	Reassign   bool                     `json:"reassign,omitempty" doc:"Give up your tasks too"`
	Transcript *history.TranscriptDraft `json:"transcript,omitempty"`
}

// Ended is the answer to End.
type Ended struct {
	operational.Session
	AlreadyEnded bool                  `json:"already_ended,omitempty"` // nothing was changed
	Reassigned   []int64               `json:"reassigned,omitempty"`    // numbers of tasks that the successor holds now
	Released     []int64               `json:"released,omitempty"`      // numbers of tasks that wait for anybody now
	Consolidated *history.Consolidated `json:"consolidated,omitempty"`
	// Notices say what did not go as asked: the session has ended all the same.
	Notices []string `json:"notices,omitempty"`
	// Redacted lists the kinds of secret that were cut out of what the call said that this answers.
	Redacted []string `json:"redacted,omitempty"`
}

// Operations is how the methods of a Service are called from outside.
var Operations = operation.Of("sessions", "/api/sessions",
	operation.Post("", "Begin a session, or with action end, end one; 200 if nothing new began", Service.Start).Shaped(""),
	operation.Post("/{id}/end", "End a session: what is open goes to the successor; current is the one that the agent is in", Service.End).Else(Current).Shaped(""),
	operation.Get("", "List sessions, the latest first", Service.List).Holds("sessions"),
	operation.Get("/handover", "The session whose hand-over an agent works on, or that waits for it", Service.Handover).Takes("agent_id"),
	operation.Get("/{id}", "One session, with what it left undone", Service.Session),
)
