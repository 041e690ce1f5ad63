package operational

import (
	"context"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/eventlog"
)

// ReminderStore keeps reminders. The function that a change gets decides what the change
// does. It runs inside the transaction and may run twice.
type ReminderStore interface {
	// CreateReminder stores a reminder, gives it its number and writes the event that made
	// returns for it. learning is the newest event of the other log; of its own logs the store
	// knows it. If the maker has used the key before, it returns the reminder of then and existed.
	CreateReminder(ctx context.Context, r Reminder, key string, learning int64, made func(Reminder) eventlog.Event) (stored Reminder, existed bool, err error)
	Reminder(ctx context.Context, number int64) (Reminder, error)
	ListReminders(ctx context.Context, filter ReminderFilter) ([]Reminder, error)
	// ReminderKeyed tells whether a maker has used an idempotency key.
	ReminderKeyed(ctx context.Context, maker, key string) (bool, error)
	// RemindersMade returns the reminders that were made at one of these times, to the millisecond.
	RemindersMade(ctx context.Context, times []time.Time) ([]Reminder, error)
	// ChangeReminder applies change to the reminder, stores it and writes the event that change
	// returns. A change that returns neither event nor error stores nothing.
	ChangeReminder(ctx context.Context, number int64, change func(*Reminder) (*eventlog.Event, error)) (Reminder, error)
	// ChangeReminders applies change to those that are picked, in one transaction with the
	// messages and events that it returns. stored, which may be nil, runs after the commit and
	// in commit order. It returns how many were picked and how many changed.
	ChangeReminders(ctx context.Context, pick ReminderPick, change func(*Reminder) *ReminderChange, stored func([]Message)) (picked, changed int, err error)
	// NextReminder returns when the clock has to look at the next reminder, nil if never.
	NextReminder(ctx context.Context) (*time.Time, error)
	// LastReminder returns the greatest number that was given.
	LastReminder(ctx context.Context) (int64, error)
	// AwaitedEvents returns what pending reminders wait for, each name or pattern once.
	AwaitedEvents(ctx context.Context) ([]string, error)
	// CountConditions counts the pending reminders that wait for conditions.
	CountConditions(ctx context.Context) (int, error)
	// PendingConditions returns pending reminders that wait for conditions, by number, after a number.
	PendingConditions(ctx context.Context, after int64, limit int) ([]Reminder, error)
	CountReminders(ctx context.Context) (ReminderStats, error)
	// ClearReminders deletes reminders, with the event that told returns for their number, in
	// one transaction. It returns how many were open, and how many there were.
	ClearReminders(ctx context.Context, clearing ReminderClearing, told func(count int) eventlog.Event) (open, all int, err error)
}

// ReminderPick says which reminders a change is about. One of By, Waiting, Project,
// Numbers, Heard and Key is set.
type ReminderPick struct {
	By      *time.Time // those whose next time has come by then, the earliest first
	Through int64      // with By: only numbers up to this one; 0: all
	Waiting []string   // those that are due and of which nobody was told, for these personas or made by these agents, behind After
	After   int64      // with Waiting: only greater numbers
	Project string     // those that are due there, of which nobody was told: a person made them, and they name no agent
	Numbers []int64    // these, if they are open
	Heard   *Heard     // pending ones that wait for an event that happened, and were not snoozed
	Key     string     // open ones whose idempotency keys begin so, by number
	Limit   int
}

// EventSource is a log that reminders hear of events from.
type EventSource string

// The sources. A happening that is reported by name has none: it is heard at once.
const (
	SourceOperational EventSource = "operational"
	SourceLearning    EventSource = "learning"
	SourceSignals     EventSource = "signals"
)

// Heard says what happened, by the names and patterns that reminders wait for: for each the
// last place in the source where it happened. A reminder that was scheduled after that place
// does not wait for it.
type Heard struct {
	Source EventSource // empty: now
	Awaits map[string]int64
}

// ReminderChange is what comes of a change of one reminder.
type ReminderChange struct {
	Event   eventlog.Event
	Message *Message // to be stored with it
}

// The types of the events of reminders. Their Data is a ReminderEvent.
const (
	EventReminderScheduled = "reminder.scheduled"
	EventReminderDue       = "reminder.due"
	EventReminderDelivered = "reminder.delivered" // to somebody, after it had come due and nobody was there
	EventReminderCompleted = "reminder.completed"
	EventReminderCancelled = "reminder.cancelled"
	EventReminderRestored  = "reminder.restored"
	EventReminderEdited    = "reminder.edited"
	EventReminderSnoozed   = "reminder.snoozed"
	EventReminderUnjudged  = "reminder.unjudged" // its condition could not be judged
)

// ReminderEvent is the data of a reminder's event.
type ReminderEvent struct {
	Number       int64          `json:"id"`
	Persona      string         `json:"persona"`
	Task         string         `json:"task"` // cut to maxEventTask
	TriggerType  TriggerType    `json:"trigger_type"`
	Status       ReminderStatus `json:"status"`
	Fired        int64          `json:"fired"`
	Missed       bool           `json:"missed,omitempty"`
	DeliveredTo  string         `json:"delivered_to,omitempty"`
	AgentID      string         `json:"agent_id,omitempty"`   // whom it is for; empty: nobody in particular
	CreatedBy    string         `json:"created_by,omitempty"` // these two say whom the event concerns
	ScheduledFor *time.Time     `json:"scheduled_for,omitempty"`
}

// maxEventTask bounds what an event repeats of a task, in bytes.
const maxEventTask = 200

func reminderEvent(kind string, r Reminder, by string, at time.Time) eventlog.Event {
	return eventOf(kind, reminderSubject(r.Number), by, r.Project, at, ReminderEvent{
		Number: r.Number, Persona: r.Persona, Task: check.Head(r.Task, maxEventTask), TriggerType: r.TriggerType, Status: r.Status, Fired: r.Fired,
		Missed: r.Missed, DeliveredTo: r.DeliveredTo, AgentID: r.AgentID, CreatedBy: r.CreatedBy, ScheduledFor: r.ScheduledFor,
	})
}
