package operational

import (
	"context"
	"time"
)

// SessionStore keeps sessions. Each change is stored together with its event.
type SessionStore interface {
	// StartSession opens a session and gives it what was left to it, in one transaction.
	// former is the agent's open session as it ended, nil if it has none: if another one
	// is open by now, nothing is stored and the answer is a Conflict. A session of that id
	// that is the agent's own and open is returned, as Resumed; one that has ended is a
	// Conflict; in place of another agent's id the session gets check.OwnSessionID.
	// after is called with the outcome of what was stored, in commit order.
	StartSession(ctx context.Context, session Session, former *Session, after func(SessionOpened)) (SessionOpened, error)
	// EndSession applies end, which runs inside the transaction and may run twice, to an
	// open session, and calls after with it in commit order. One that has ended is returned
	// as it is, and stored is false.
	EndSession(ctx context.Context, id string, end func(*Session), after func(Session)) (session Session, stored bool, err error)
	// Session returns a session; NotFound if there is none.
	Session(ctx context.Context, id string) (Session, error)
	// OpenSession returns the session that an agent is in; ok is false if it is in none.
	OpenSession(ctx context.Context, agentID string) (session Session, ok bool, err error)
	// ListSessions returns sessions, the latest first.
	ListSessions(ctx context.Context, filter SessionFilter) ([]Session, error)
}

// SessionOpened is what came of opening a session.
type SessionOpened struct {
	Session Session
	Resumed bool // it was open already, and nothing was stored
	// Inherited are the sessions that had left something to this one, the latest first.
	Inherited []Session
	Former    *Session // the agent's session that was ended by this
}

// SessionFilter selects sessions; empty fields select everything.
type SessionFilter struct {
	AgentID    string        `query:"agent_id" doc:"Only this agent's"`
	Persona    string        `query:"persona" doc:"Only this persona's"`
	Project    string        `query:"project" doc:"Only this project's"`
	Status     SessionStatus `query:"status" doc:"open or ended"`
	Successor  string        `query:"successor" doc:"Only those that were handed to this agent"`
	Waiting    bool          `query:"waiting" doc:"Only those whose hand-over nobody has begun with yet"`
	EndedSince time.Time     // only those that ended at or after this
	Limit      int           `query:"limit" doc:"1 to 1000; 0: 100" usual:"100,1000"`
}
