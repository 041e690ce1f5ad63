package operational

import (
	"slices"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/safetext"
)

// EscalationStatus says how far an escalation has come, in the words of MNEMOSYNE.
type EscalationStatus string

// The statuses. Open ones are pending and reviewed.
const (
	EscalationPending   EscalationStatus = "pending"   // nobody has looked at it
	EscalationReviewed  EscalationStatus = "reviewed"  // somebody has, and it is not settled
	EscalationResolved  EscalationStatus = "resolved"  // settled; if the matter recurs, it is raised anew
	EscalationDismissed EscalationStatus = "dismissed" // no matter for this agent: it is never raised again for these reasons
)

// EscalationStatuses lists every status.
func EscalationStatuses() []EscalationStatus {
	return []EscalationStatus{EscalationPending, EscalationReviewed, EscalationResolved, EscalationDismissed}
}

// Choices are the values as texts, for whoever asks for one.
func (EscalationStatus) Choices() []string { return safetext.Strings(EscalationStatuses()) }

// Open tells whether an escalation with this status still waits for somebody.
func (s EscalationStatus) Open() bool { return s == EscalationPending || s == EscalationReviewed }

// escalationSteps is the whole table of what may follow what. What is settled stays so.
var escalationSteps = map[EscalationStatus][]EscalationStatus{
	EscalationPending:  {EscalationReviewed, EscalationResolved, EscalationDismissed},
	EscalationReviewed: {EscalationResolved, EscalationDismissed},
}

// EscalationPriority says how urgent an escalation is: the severity of its lesson.
type EscalationPriority string

// The priorities, the most urgent first.
const (
	PriorityCritical EscalationPriority = "critical"
	PriorityHigh     EscalationPriority = "high"
	PriorityMedium   EscalationPriority = "medium"
	PriorityLow      EscalationPriority = "low"
)

// EscalationPriorities lists every priority, the most urgent first.
func EscalationPriorities() []EscalationPriority {
	return []EscalationPriority{PriorityCritical, PriorityHigh, PriorityMedium, PriorityLow}
}

// Rank is the priority's place among all: 0 is the most urgent.
func (p EscalationPriority) Rank() int { return slices.Index(EscalationPriorities(), p) }

// SignalEscalation is the signal by which an escalation arrives in its agent's mailbox.
const SignalEscalation = "escalation"

// Escalation is a lesson or a pattern that an agent should look at. Its text is
// what the lesson's author wrote.
type Escalation struct {
	ID          string             `json:"id"`
	Number      int64              `json:"number"` // order of raising
	LessonID    string             `json:"lesson_id,omitempty"`
	PatternID   string             `json:"pattern_id,omitempty"`
	Title       string             `json:"title"` // the lesson's or the pattern's, when it was raised
	Domain      string             `json:"domain"`
	SourceAgent string             `json:"source_agent"` // who wrote that
	To          string             `json:"escalated_to"` // an agent's id
	Reason      string             `json:"reason"`       // every reason, separated by "; "
	Priority    EscalationPriority `json:"priority"`
	Status      EscalationStatus   `json:"status"`
	Occurrences int64              `json:"occurrence_count"` // how often it was raised
	ReviewedBy  string             `json:"reviewed_by"`
	ReviewedAt  *time.Time         `json:"reviewed_at"`
	ReviewNotes string             `json:"review_notes"`
	ResolvedBy  string             `json:"resolved_by"` // or dismissed by
	ResolvedAt  *time.Time         `json:"resolved_at"`
	Notes       string             `json:"resolution_notes"`
	CreatedAt   time.Time          `json:"created_at"`
	LastRaised  time.Time          `json:"last_raised_at"`
	// History is what happened to it, oldest first. Only the answer to a single one holds it.
	History []EscalationChange `json:"history,omitempty"`
}

// EscalationChange is one step that an escalation took.
type EscalationChange struct {
	From  EscalationStatus `json:"from,omitempty"` // empty: it was raised
	To    EscalationStatus `json:"to"`
	By    string           `json:"by,omitempty"`
	Notes string           `json:"notes,omitempty"`
	At    time.Time        `json:"at"`
}

// EscalationDraft says what is to be raised.
type EscalationDraft struct {
	LessonID, PatternID string // one of them
	Title, Domain       string
	SourceAgent         string
	To                  string
	Reasons             []string
	Priority            EscalationPriority
	Times               int64 // how often it is raised at once; 0 means once
}

// EscalationFilter selects escalations; empty fields select everything.
type EscalationFilter struct {
	To       string             `query:"to" doc:"Only those that went to this agent"`
	LessonID string             `query:"lesson_id" doc:"Only those of this lesson"`
	Limit    int                `query:"limit" doc:"1 to 1000; 0: 100" usual:"100,1000"` // 1 to MaxLimit; 0 means DefaultLimit
	Status   []EscalationStatus `query:"status" doc:"One or more, separated by commas: pending, reviewed, resolved, dismissed; none: all"`
}

// EscalationVerdict is what somebody says of an escalation.
type EscalationVerdict struct {
	By    string `json:"by,omitempty" actor:"true"` // who; empty: the agent that the token belongs to
	Notes string `json:"notes,omitempty"`
}

// MaxEscalationNotes bounds the notes of a verdict, in bytes.
const MaxEscalationNotes = 16 << 10

// The types of the events of escalations. Their Data is the Escalation.
const (
	EventEscalationRaised   = "escalation.raised"
	EventEscalationReviewed = "escalation.reviewed"
	EventEscalationSettled  = "escalation.settled" // resolved or dismissed
)

// move takes the escalation to another status, and returns the step. A step
// that was taken already changes nothing and gives nil.
func (e *Escalation) move(to EscalationStatus, by, notes string, at time.Time) (*EscalationChange, error) {
	if e.Status == to {
		return nil, nil
	}
	if !slices.Contains(escalationSteps[e.Status], to) {
		return nil, errs.Errorf(errs.Conflict, "the escalation is %s already", e.Status)
	}
	change := &EscalationChange{From: e.Status, To: to, By: by, Notes: notes, At: at}
	e.Status = to
	if to == EscalationReviewed {
		e.ReviewedBy, e.ReviewedAt, e.ReviewNotes = by, &at, notes
	} else {
		e.ResolvedBy, e.ResolvedAt, e.Notes = by, &at, notes
	}
	return change, nil
}

// gives tells whether the escalation was raised for the reason.
func (e *Escalation) gives(reason string) bool {
	return strings.Contains("; "+e.Reason+"; ", "; "+reason+"; ")
}

// with adds reasons, each once, as far as they fit.
func (e *Escalation) with(reasons []string) {
	const most = 1000 // bytes: they are part of an index
	for _, reason := range reasons {
		if more := e.Reason + "; " + reason; !e.gives(reason) && len(more) <= most {
			e.Reason = strings.TrimPrefix(more, "; ")
		}
	}
}

// raise returns what raising the draft makes of the escalations that there were of the same lesson or pattern to the same agent,
// oldest first: the one of them that is counted again, or a new one. An open one takes in further reasons. What
// was dismissed is raised again for other reasons alone. A matter that has become worse is more urgent; one that has become
// better is not less so, until somebody has looked.
func (draft EscalationDraft) raise(earlier []Escalation, at time.Time) Escalation {
	reasons, latest := draft.Reasons, Escalation{}
	for _, e := range earlier {
		if e.Status.Open() || !latest.Status.Open() {
			latest = e
		}
		if e.Status == EscalationDismissed {
			reasons = slices.DeleteFunc(slices.Clone(reasons), e.gives)
		}
	}
	times := max(1, draft.Times)
	if !latest.Status.Open() && len(reasons) > 0 {
		one := Escalation{
			ID: check.NewID(), LessonID: draft.LessonID, PatternID: draft.PatternID, Title: draft.Title, Domain: draft.Domain, SourceAgent: draft.SourceAgent,
			To: draft.To, Priority: draft.Priority, Status: EscalationPending, Occurrences: times, CreatedAt: at, LastRaised: at,
		}
		one.with(reasons)
		return one
	}
	latest.Occurrences += times
	latest.LastRaised = at
	if latest.Status.Open() {
		latest.with(reasons)
		if draft.Priority.Rank() < latest.Priority.Rank() {
			latest.Priority = draft.Priority
		}
	}
	return latest
}
