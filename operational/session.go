package operational

import (
	"context"
	"encoding/json"
	"time"
)

// Session is one stretch of an agent's work, from its start to the hand-over at its end.
type Session struct {
	ID          string          `json:"id"`
	AgentID     string          `json:"agent_id"`
	Persona     string          `json:"persona"`
	Project     string          `json:"project,omitempty"`
	Goal        string          `json:"goal,omitempty"`
	Status      SessionStatus   `json:"status"`
	Summary     string          `json:"summary,omitempty"`
	Successor   string          `json:"successor,omitempty"`    // whom what is open was handed to; empty: whoever goes on
	Handover    *Handover       `json:"handover,omitempty"`     // what was open at the end
	Previous    string          `json:"previous,omitempty"`     // the session whose hand-over this one began with
	InheritedBy string          `json:"inherited_by,omitempty"` // the session that began with this one's hand-over
	Data        json.RawMessage `json:"data,omitempty"`         // an object
	StartedAt   time.Time       `json:"started_at"`
	EndedAt     *time.Time      `json:"ended_at,omitempty"`
}

// SessionStatus is where a session stands.
type SessionStatus string

// The statuses of a session.
const (
	SessionOpen  SessionStatus = "open"
	SessionEnded SessionStatus = "ended"
)

// Handover is what a session leaves undone. Each list is bounded; the counts are not.
type Handover struct {
	Tasks         []OpenItem `json:"tasks"`
	TaskCount     int        `json:"task_count"`
	Messages      []OpenItem `json:"messages"`
	MessageCount  int        `json:"message_count"`
	Steps         []OpenItem `json:"steps"` // undone steps of procedures under way
	StepCount     int        `json:"step_count"`
	Reminders     []OpenItem `json:"reminders"`
	ReminderCount int        `json:"reminder_count"`
}

// OpenItem is one thing left undone.
type OpenItem struct {
	Kind   string    `json:"kind"` // task, message, step, reminder
	ID     string    `json:"id"`
	Title  string    `json:"title"`
	Status string    `json:"status,omitempty"`
	Since  time.Time `json:"since,omitzero"`
}

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
