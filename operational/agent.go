package operational

import (
	"cmp"
	"time"

	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/internal/safetext"
)

// AgentState is what the router knows of an agent's presence.
type AgentState string

// The states of presence.
const (
	// AgentStarting: the agent is known and has not sent a heartbeat in this run.
	AgentStarting AgentState = "starting"
	// AgentOnline: its last heartbeat is recent.
	AgentOnline AgentState = "online"
	// AgentStale: it has missed heartbeats.
	AgentStale AgentState = "stale"
	// AgentOffline: it has missed so many that it is taken to be gone, or it said so.
	AgentOffline AgentState = "offline"
)

// AgentStates lists the states of presence.
func AgentStates() []AgentState {
	return []AgentState{AgentStarting, AgentOnline, AgentStale, AgentOffline}
}

// Choices are the values as texts, for whoever asks for one.
func (AgentState) Choices() []string { return safetext.Strings(AgentStates()) }

// Agent is an agent that the router has heard of.
type Agent struct {
	ID          string     `json:"agent_id"`
	Role        string     `json:"role,omitempty"`
	ConfigName  string     `json:"config_name,omitempty"`
	Project     string     `json:"project,omitempty"` // as the agent says, else the last element of ProjectPath
	ProjectPath string     `json:"project_path,omitempty"`
	Model       string     `json:"model,omitempty"`
	PID         int        `json:"pid,omitempty"`
	State       AgentState `json:"state"`            // presence, as the router sees it
	Status      string     `json:"status,omitempty"` // what the agent says of itself: "working", "idle", "blocked", …
	CurrentTask string     `json:"current_task,omitempty"`
	Progress    int        `json:"progress"` // 0 to 100, of the current task
	ShouldStop  bool       `json:"should_stop"`
	StopReason  string     `json:"stop_reason,omitempty"`
	StartedAt   time.Time  `json:"started_at"` // first check-in of its present run
	LastSeen    time.Time  `json:"last_seen"`
	CreatedAt   time.Time  `json:"created_at"`
	JoinedSeq   int64      `json:"-"` // broadcasts up to this seq were sent before the agent was known, and are not for it
}

// AgentRecord is an agent with what only the router itself needs to know of it.
type AgentRecord struct {
	Agent
	Gone         bool       // it said goodbye: its next check-in is a new run
	StopSeq      int64      // the stop signal that is in force, 0 if none
	StopPID      int        // the process that was told to stop; -1: it has no id; 0: nobody was told yet
	StopExpires  *time.Time // after this the stop is no longer in force
	AckedSeq     int64      // acknowledged up to and including this message
	ReadSeq      int64
	DeliveredSeq int64
}

// Run identifies the agent's present run in StopPID: its process id, or -1 where it has never said one.
func (a Agent) Run() int { return cmp.Or(a.PID, -1) }

// AgentChange is a change of what an agent is and does, with the events that tell of it.
type AgentChange struct {
	Agent     Agent // its presence columns are written; stops and marks are left alone
	Gone      bool
	ClearStop bool // the stop in force up to now was for an earlier run
	BindStop  bool // the run that checks in is the one that is told to stop, if none was, or none with an id
	Events    []eventlog.Event
}

// Seen is when an agent was last heard of.
type Seen struct {
	AgentID string
	At      time.Time
}

// AgentFilter selects agents; empty fields select everything.
type AgentFilter struct {
	State   AgentState `query:"state" enum:"starting,online,stale,offline" doc:"Only those in this state"`
	Status  string     `query:"status" doc:"What the agent says of itself, in any case"`
	Project string     `query:"project" doc:"Last element of the project's path, in any case"`
	Role    string     `query:"role" doc:"In any case"`
	Task    string     `query:"task" doc:"Part of the current task, in any case"`
	Skip    int        `query:"skip" minimum:"0" doc:"Leave out so many of the first ones"`
	Limit   int        `query:"limit" minimum:"0" maximum:"1000" doc:"0: 100" usual:"100,1000"` // 1 to MaxLimit; 0 means DefaultLimit
}

// Defaults and bounds of listings.
const (
	DefaultLimit = 100
	MaxLimit     = 1000 // rows of one answer; more is asked for in pages
)
