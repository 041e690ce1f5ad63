package comms

import (
	"cmp"
	"math"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/operational"
)

// noBroadcasts is a border that no broadcast lies after: an agent that was
// never heard of has only what is addressed to it.
const noBroadcasts = math.MaxInt64

// checkIn is what an agent says at one time.
type checkIn struct {
	Heartbeat // what is empty here is unchanged
	at        time.Time
	progress  *float64 // 0 to 100; nil: unchanged
	dropTask  bool     // it works on nothing now
}

// change is what a check-in changes, if anything.
type change struct {
	operational.AgentChange
	details bool // something that is stored differs
	says    bool // what it says that it does differs
}

func (c change) any() bool { return c.details || c.ClearStop || c.BindStop }

// change compares a check-in with what is known of the agent.
func (c checkIn) change(old operational.AgentRecord) change {
	next := c.apply(old)
	out := change{AgentChange: operational.AgentChange{Agent: next.Agent, Gone: next.Gone}}
	before, after := old.Agent, next.Agent
	before.LastSeen, after.LastSeen = time.Time{}, time.Time{}
	out.details = before != after || old.Gone != next.Gone
	if out.details && old.State != next.State {
		out.Events = append(out.Events, stateEvent(next.Agent, old.State))
	}
	out.says = old.Status != next.Status || old.CurrentTask != next.CurrentTask
	if old.StopSeq != 0 {
		told := old.StopPID
		out.ClearStop = next.Gone && !old.Gone || told > 0 && c.PID != 0 && c.PID != told || told < 0 && old.State == operational.AgentOffline
		out.BindStop = !out.ClearStop && (told == 0 || told < 0 && c.PID != 0)
	}
	return out
}

// saysEvery is how often it is told of an agent what it says that it does: the first time at once, and what it says meanwhile at the end, unless
// it does something else. A task of a moment is stored, and is no event that is kept.
const saysEvery = time.Minute

// tells adds the event of what an agent says to a change, if it is to be told now. m.mu is held.
func (m *member) tells(c *change, at time.Time) {
	doing := func(status string) string { return status[:len(status)-len(strings.TrimLeft(status, letters))] }
	if c.says && (doing(m.record.Status) != doing(c.Agent.Status) || at.Sub(m.told) >= saysEvery || at.Before(m.told)) {
		c.Events = append(c.Events, statusEvent(c.Agent))
	}
}

// letters are those of the first word of a status.
const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-"

// apply returns the agent as it is after a check-in.
//
// A run is one life of an agent's process. A check-in begins a new run when
// it gives another process id than the one known, or when the agent had said
// goodbye before. A stop signal that is in force is over when the run that was
// told to stop says goodbye, when another process than the one that was told
// checks in, when an agent without a process id was told, went offline and
// checks in again, or when a captain sends "resume". Acknowledging its message
// does not end it. The run that is told is the one there when the signal is
// stored; if none is, it is the first that checks in afterwards. For an agent with
// a process id, a lost connection, silence, and a restart of the router end no run.
func (c checkIn) apply(old operational.AgentRecord) operational.AgentRecord {
	next := old
	leaves := goodbye(c.Status)
	if old.Gone && !leaves || c.PID != 0 && old.PID != 0 && c.PID != old.PID {
		next.StartedAt, next.Status, next.CurrentTask, next.Progress = c.at, "", "", 0
		if c.PID == 0 {
			next.PID = 0 // the earlier process is gone, and this one has not said its id
		}
	}
	next.LastSeen = c.at
	next.ConfigName, next.Model = cmp.Or(c.ConfigName, next.ConfigName), cmp.Or(c.Model, next.Model)
	next.Role, next.Status = cmp.Or(c.Role, next.Role), cmp.Or(c.Status, next.Status)
	next.PID = cmp.Or(c.PID, next.PID)
	if c.ProjectPath != "" {
		next.ProjectPath, next.Project = c.ProjectPath, projectOf(c.ProjectPath)
	}
	next.Project = cmp.Or(c.Project, next.Project)
	if c.dropTask || c.CurrentTask != "" && c.CurrentTask != next.CurrentTask {
		next.CurrentTask, next.Progress = c.CurrentTask, 0
	}
	if c.progress != nil {
		next.Progress = int(math.Round(*c.progress))
	}
	next.Gone = leaves
	switch {
	case leaves:
		next.State = operational.AgentOffline
	case strings.EqualFold(c.Status, string(operational.AgentStarting)):
		next.State = operational.AgentStarting
	default:
		next.State = operational.AgentOnline
	}
	return next
}

// goodbye tells whether a status means that the agent's process is ending:
// its first word says so, and what follows a colon may say how.
func goodbye(status string) bool {
	word, _, _ := strings.Cut(status, ":")
	switch strings.ToLower(strings.TrimSpace(word)) {
	case "offline", "stopped", "exited":
		return true
	}
	return false
}

// projectOf is the last element of a path of any operating system.
func projectOf(path string) string {
	path = strings.TrimRight(path, `/\`)
	return path[strings.LastIndexAny(path, `/\`)+1:]
}

// silent returns the state that silence since the last check-in brings an agent to.
func (o PresenceOptions) silent(state operational.AgentState, silence time.Duration) operational.AgentState {
	switch {
	case state == operational.AgentOffline || silence >= o.OfflineAfter:
		return operational.AgentOffline
	case state == operational.AgentStale || silence >= o.StaleAfter:
		return operational.AgentStale
	}
	return state
}
