package operational

import (
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/internal/safetext"
)

// Bounds of a session.
const (
	MaxSessionID      = 128      // bytes
	MaxSessionGoal    = 4 << 10  // bytes
	MaxSessionSummary = 64 << 10 // bytes: a hand-over is read at the start of the next session; what is longer is a file
	MaxSessionData    = 64 << 10 // bytes of JSON
	// MaxOpenItems bounds each list of a hand-over. Whoever leaves more behind has a
	// listing of its own for it.
	MaxOpenItems = 50
	maxOpenTitle = 200 // bytes of what an item is called
	// MaxInherited bounds how many hand-overs one session begins with; those over it wait for the next.
	MaxInherited = 20
)

// The types of the events of sessions. Their Data is a SessionEvent.
const (
	EventSessionStarted = "session.started"
	EventSessionEnded   = "session.ended"
)

// SignalHandover is the signal by which a hand-over arrives in its successor's mailbox.
const SignalHandover = "handover"

// SessionStatuses lists every status of a session.
func SessionStatuses() []SessionStatus { return []SessionStatus{SessionOpen, SessionEnded} }

// Choices are the values as texts, for whoever asks for one.
func (SessionStatus) Choices() []string { return safetext.Strings(SessionStatuses()) }

// CheckSessionID holds a client's own session id to letters, digits and, after
// the first, . _ : - so that it can be put into a path. The ids that stand for
// something else are no session's.
func CheckSessionID(field, id string) error {
	if len(id) > MaxSessionID {
		return errs.InvalidField(field, "is longer than %d bytes", MaxSessionID)
	}
	if !check.Only(id[:min(len(id), 1)], "") || !check.Only(id, "._:-") {
		return errs.InvalidField(field, "must be letters A–Z and a–z, digits, and after the first also . _ : -")
	}
	if id == "" || id == "current" || id == "handover" {
		return errs.InvalidField(field, "may not be %q", id)
	}
	return check.NoSecret(field, id)
}

// End ends the session. What it leaves undone goes to the successor or, if that is
// empty, to whoever goes on.
func (s *Session) End(summary, successor string, left Handover, at time.Time) {
	s.Status, s.Summary, s.Successor, s.Handover, s.EndedAt = SessionEnded, summary, successor, &left, &at
}

// For returns the session as p may see it. The agent, its successor and a captain see what
// was left in the mailbox and among the reminders. Everybody else sees only how many there
// are.
func (s Session) For(p principal.Principal) Session {
	successor := s.Successor != "" && p.ActAs(s.Successor) == nil
	if s.Handover == nil || successor || p.ActAs(s.AgentID) == nil {
		return s
	}
	shown := *s.Handover
	shown.Messages, shown.Reminders = []OpenItem{}, []OpenItem{}
	s.Handover = &shown
	return s
}

// Count is how many things were left undone.
func (h *Handover) Count() int {
	if h == nil {
		return 0
	}
	return h.TaskCount + h.MessageCount + h.StepCount + h.ReminderCount
}

// NewOpenItem makes an item of a hand-over. Its title becomes one short line.
func NewOpenItem(kind, id, title, status string, since time.Time) OpenItem {
	return OpenItem{Kind: kind, ID: id, Title: check.Head(strings.Join(strings.Fields(title), " "), maxOpenTitle), Status: status, Since: since}
}

// SessionEvent is the data of a session's event. It holds all that the
// successor is told, so that the same event always tells the same.
type SessionEvent struct {
	AgentID       string `json:"agent_id"`
	Persona       string `json:"persona"`
	Goal          string `json:"goal,omitempty"`
	Summary       string `json:"summary,omitempty"` // cut to maxEventText
	Successor     string `json:"successor,omitempty"`
	TaskCount     int    `json:"task_count"`
	MessageCount  int    `json:"message_count"`
	StepCount     int    `json:"step_count"`
	ReminderCount int    `json:"reminder_count"`
}

// SessionEventOf is the event that tells of a session that began or, if it has, ended.
func SessionEventOf(s Session) eventlog.Event {
	told := SessionEvent{AgentID: s.AgentID, Persona: s.Persona, Goal: check.Head(s.Goal, maxEventText), Summary: check.Head(s.Summary, maxEventText), Successor: s.Successor}
	kind, at := EventSessionStarted, s.StartedAt
	if s.EndedAt != nil {
		kind, at = EventSessionEnded, *s.EndedAt
	}
	if h := s.Handover; h != nil {
		told.TaskCount, told.MessageCount, told.StepCount, told.ReminderCount = h.TaskCount, h.MessageCount, h.StepCount, h.ReminderCount
	}
	return eventOf(kind, s.ID, s.AgentID, s.Project, at, told)
}
