package operational

import (
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
