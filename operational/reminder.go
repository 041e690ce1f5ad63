package operational

import (
	"context"
	"encoding/json"
	"time"

	"github.com/skillrouter/skillrouter/internal/safetext"
)

// ReminderService is what can be done with reminders: things to do later, when a time comes,
// something happens, or a condition holds. Reminders implements it beside the database,
// router/client over HTTP.
type ReminderService interface {
	// Schedule stores a reminder. It needs ScopeAgent.
	Schedule(ctx context.Context, draft ReminderDraft) (Reminder, error)
	// Reminder returns the reminder of that number. It needs ScopeRead. To this and to the
	// listings there is no reminder that Reminder.Concerns not.
	Reminder(ctx context.Context, number int64) (Reminder, error)
	// List returns reminders: those that are due first, then by number. It needs ScopeRead.
	List(ctx context.Context, filter ReminderFilter) ([]Reminder, error)
	// Complete says that what was to be done is done. A recurring one waits for its next time. It needs ScopeAgent.
	Complete(ctx context.Context, number int64, note ReminderNote) (Reminder, error)
	// Cancel ends a reminder, a recurring one too. It needs ScopeAgent.
	Cancel(ctx context.Context, number int64, note ReminderNote) (Reminder, error)
	// Restore lets a cancelled reminder wait again. One whose time has passed comes due at once. It needs ScopeAgent.
	Restore(ctx context.Context, number int64, note ReminderNote) (Reminder, error)
	// Edit changes what an open reminder says. It needs ScopeAgent.
	Edit(ctx context.Context, number int64, patch ReminderPatch) (Reminder, error)
	// Snooze lets a reminder come again later. It needs ScopeAgent.
	Snooze(ctx context.Context, number int64, snooze ReminderSnooze) (Reminder, error)
	// Pending returns what is due for an agent or a persona, what came due first at the
	// front. It needs ScopeRead. What was delivered to nobody yet counts as delivered to
	// the agent that asks, if the caller may act as it.
	Pending(ctx context.Context, query PendingQuery) ([]Reminder, error)
	// Happened tells of something by name, so that the reminders that wait for it come due;
	// it returns how many did. It needs ScopeAgent.
	Happened(ctx context.Context, happening Happening) (int, error)
	// Stats counts reminders by persona and status. It needs ScopeRead.
	Stats(ctx context.Context) (ReminderStats, error)
}

// ReminderStatus is where a reminder stands.
type ReminderStatus string

// The statuses of a reminder.
const (
	ReminderPending   ReminderStatus = "pending" // its trigger has not come
	ReminderDue       ReminderStatus = "due"     // it has, and nobody has done it yet
	ReminderCompleted ReminderStatus = "completed"
	ReminderCancelled ReminderStatus = "cancelled"
)

// ReminderStatuses lists every status.
func ReminderStatuses() []ReminderStatus {
	return []ReminderStatus{ReminderPending, ReminderDue, ReminderCompleted, ReminderCancelled}
}

// Choices are the values as texts, for whoever asks for one.
func (ReminderStatus) Choices() []string { return safetext.Strings(ReminderStatuses()) }

// Open tells whether a reminder with this status still waits for something.
func (s ReminderStatus) Open() bool { return s == ReminderPending || s == ReminderDue }

// SignalReminder is the signal by which a reminder arrives in a mailbox.
const SignalReminder = "reminder"

// TriggerType says what a reminder waits for.
type TriggerType string

// The types of triggers, as the persona's memory names them, and one for what recurs.
const (
	TriggerTime      TriggerType = "time"      // time:+1hour, time:2026-12-24T18:00:00Z
	TriggerEvent     TriggerType = "event"     // event:deployment
	TriggerCondition TriggerType = "condition" // condition:fact("queue.length") > 100
	TriggerCron      TriggerType = "cron"      // cron:0 9 * * MON-FRI
)

// Reminder is something to do later.
type Reminder struct {
	Number         int64           `json:"id"` // the persona memory's id is a number
	Persona        string          `json:"persona"`
	ConversationID string          `json:"conversation_id,omitempty"`
	Task           string          `json:"task"`
	TriggerType    TriggerType     `json:"trigger_type"`
	TriggerValue   string          `json:"trigger_value"`
	Recurring      string          `json:"recurring,omitempty"` // a cron expression; empty: once
	Timezone       string          `json:"timezone,omitempty"`  // of Recurring; empty: UTC
	Status         ReminderStatus  `json:"status"`
	Context        json.RawMessage `json:"context,omitempty"`  // an object
	AgentID        string          `json:"agent_id,omitempty"` // whom it is for; empty: the next fitting agent of the persona
	CreatedBy      string          `json:"created_by,omitempty"`
	Project        string          `json:"project,omitempty"`
	ScheduledFor   *time.Time      `json:"scheduled_for,omitempty"` // the time that it waits for, or came due at; nil: it waits for no time
	Next           *time.Time      `json:"next,omitempty"`          // when it comes due next, by time; nil: it does not
	Fired          int64           `json:"fired"`                   // how often it came due
	FiredAt        *time.Time      `json:"fired_at,omitempty"`
	Missed         bool            `json:"missed,omitempty"` // its time came while the router was not running
	DeliveredTo    string          `json:"delivered_to,omitempty"`
	MessageID      string          `json:"message_id,omitempty"` // of its latest delivery
	Note           string          `json:"note,omitempty"`       // what was said at its end; while it waits for a condition, why that could not be judged
	CreatedAt      time.Time       `json:"created_at"`
	UpdatedAt      time.Time       `json:"updated_at"`
	// Redacted lists the kinds of secret that were cut out of what the call said that this answers. It is not stored.
	Redacted []string `json:"redacted,omitempty"`
}

// ReminderDraft is what a client may say of a reminder.
type ReminderDraft struct {
	Persona        string          `json:"persona,omitempty" doc:"Whose memory; default \"default\""` // empty: default
	ConversationID string          `json:"conversation_id,omitempty" doc:"Conversation that it belongs to"`
	Task           string          `json:"task"`
	Trigger        string          `json:"trigger" doc:"time:+1hour, time:+1 day 2 hours, time:<RFC 3339>, event:<name, * and ? allowed>, condition:<such as fact(\"q.length\") > 100>, or cron:0 9 * * MON-FRI"` // TYPE:VALUE
	Recurring      string          `json:"recurring,omitempty" doc:"Cron expression of the times after the first"`
	Timezone       string          `json:"timezone,omitempty" doc:"Of the cron expression, such as Europe/Berlin; default UTC"`
	Context        json.RawMessage `json:"context,omitempty" doc:"What will be needed then" object:"true"`
	AgentID        string          `json:"agent_id,omitempty" doc:"Whom it is for; default whoever works for the persona, you first"`
	CreatedBy      string          `json:"created_by,omitempty" actor:"true"`
	Project        string          `json:"project,omitempty" here:"project"`
	IdempotencyKey string          `json:"idempotency_key,omitempty"` // the same key again is the same reminder
}

// ReminderFilter selects reminders; empty fields select everything.
type ReminderFilter struct {
	Persona string           `query:"persona" doc:"Only those of this persona"`
	AgentID string           `query:"agent_id" doc:"Those for this agent; and those for nobody in particular, of the persona, or that it made or was told of"`
	Status  []ReminderStatus `query:"status" doc:"One or more, separated by commas: pending, due, completed, cancelled"`
	Open    bool             `query:"open" doc:"Only pending and due ones"`
	Project string           `query:"project" doc:"Only those of this project"`
	After   int64            `query:"after" minimum:"0" doc:"Only greater numbers, by number"`        // only greater numbers; the list is then by number alone
	Limit   int              `query:"limit" minimum:"0" maximum:"1000" doc:"0: 100" usual:"100,1000"` // 1 to MaxLimit; 0 means DefaultLimit
	// Seen is set by the service, whatever the client says: only those that concern this agent or its sessions, see Concerns; nil: all.
	Seen *string `json:"-"`
}

// PendingQuery asks what is to be done.
type PendingQuery struct {
	Persona string `json:"persona,omitempty" doc:"Default: default"`
	AgentID string `json:"agent_id,omitempty" doc:"What is for this agent too" actor:"true"` // what is for this agent, of any persona, and what is for nobody in particular of the persona
	// IncludeScheduled takes what is not due yet too.
	IncludeScheduled bool `json:"include_scheduled,omitempty" doc:"What is not due yet too"`
	Limit            int  `json:"limit,omitempty" minimum:"0" maximum:"1000" doc:"0: 100"` // 1 to MaxLimit; 0 means DefaultLimit
}

// ReminderNote goes with an end.
type ReminderNote struct {
	Note    string `json:"note,omitempty"`
	AgentID string `json:"agent_id,omitempty" actor:"true"`
}

// ReminderSnooze says until when: one of both.
type ReminderSnooze struct {
	For     string     `json:"for,omitempty" doc:"10min, 2 hours, 1 day"` // +10min, 2h, 1 day
	Until   *time.Time `json:"until,omitempty"`
	AgentID string     `json:"agent_id,omitempty" actor:"true"`
}

// ReminderPatch changes what a reminder says; what is nil stays as it is. When it comes due is Snooze's.
type ReminderPatch struct {
	Task    *string         `json:"task,omitempty" doc:"What it reminds of"`
	Context json.RawMessage `json:"context,omitempty" doc:"In place of what there is; null: none"`
	Project *string         `json:"project,omitempty" doc:"\"\": none"`
	AgentID string          `json:"agent_id,omitempty" doc:"Who changes it; default: the token's agent"`
}

// Happening is something that reminders may wait for.
type Happening struct {
	Name    string          `json:"name"`
	AgentID string          `json:"agent_id,omitempty" actor:"true"`
	Project string          `json:"project,omitempty" doc:"Project"`
	Data    json.RawMessage `json:"data,omitempty" object:"true"`
}

// ReminderStats counts reminders.
type ReminderStats struct {
	Personas map[string]map[ReminderStatus]int64 `json:"personas"`
	Next     *time.Time                          `json:"next,omitempty"` // when the next one comes due by time
}
