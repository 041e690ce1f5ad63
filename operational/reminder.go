package operational

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/redact"
	"github.com/skillrouter/skillrouter/internal/safetext"
	"github.com/skillrouter/skillrouter/internal/strictjson"
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

// Bounds of a reminder, in bytes.
const (
	MaxReminderTask    = 4 << 10  // a task is a sentence or two; what it takes is in its context
	MaxReminderContext = 16 << 10 // of compact JSON: it has to fit into a signal, beside the task
	MaxReminderNote    = 4 << 10
	maxContextDepth    = 64 // how deep a context may be nested
)

// reminderOf checks a draft and makes a reminder of it, all but who made it.
func (d ReminderDraft) reminderOf(now time.Time, condition func(expression string) error) (Reminder, error) {
	r := Reminder{
		ConversationID: d.ConversationID, Task: strings.TrimSpace(d.Task), Timezone: d.Timezone, Status: ReminderPending,
		AgentID: d.AgentID, Project: d.Project, CreatedAt: now, UpdatedAt: now,
	}
	var err error
	if r.Persona, err = check.Persona(d.Persona); err != nil {
		return r, err
	}
	if err := cmp.Or(
		check.Required("task", d.Task, MaxReminderTask),
		check.Names("conversation_id", d.ConversationID, "project", d.Project, "idempotency_key", d.IdempotencyKey),
		check.OptionalAgent("agent_id", d.AgentID),
	); err != nil {
		return r, err
	}
	var redaction redact.Redaction
	redaction.Text(&r.Task)
	if r.Context, err = cleanContext(&redaction, d.Context); err != nil {
		return r, err
	}
	redaction.Text(&r.Task)
	r.Redacted = redaction.Kinds()
	return r, r.await(d, now, condition)
}

// await reads what the reminder waits for.
func (r *Reminder) await(d ReminderDraft, now time.Time, condition func(expression string) error) error {
	text := d.Trigger
	if strings.TrimSpace(text) == "" && d.Recurring != "" {
		text = string(TriggerCron) + ":" + d.Recurring
	}
	trigger, err := ParseTrigger(text, now)
	if err != nil {
		return err
	}
	r.TriggerType, r.TriggerValue = trigger.Type, trigger.Value
	field, recurring := "recurring", strings.TrimSpace(d.Recurring)
	switch trigger.Type {
	case TriggerTime:
		r.at(trigger.At)
	case TriggerCron:
		if recurring != "" && recurring != trigger.Value {
			return errs.InvalidField("recurring", "differs from the trigger, which says when it recurs: leave one of them out")
		}
		recurring = trigger.Value
		if strings.TrimSpace(d.Trigger) != "" {
			field = "trigger"
		}
	case TriggerCondition:
		if condition == nil {
			return errs.InvalidField("trigger", "waits for a condition, and this router judges none")
		}
		if err := condition(trigger.Value); err != nil {
			return errs.InvalidField("trigger", "has a condition that cannot be judged: %s", errs.MessageOf(err))
		}
	}
	if recurring == "" {
		if d.Timezone != "" {
			return errs.InvalidField("timezone", "goes with what recurs; a time says its own offset")
		}
		return nil
	}
	if trigger.Type != TriggerTime && trigger.Type != TriggerCron {
		return errs.InvalidField("recurring", "goes with a time, and not with an event or a condition")
	}
	recurrence, err := ParseRecurrence(field, recurring, d.Timezone)
	if err != nil {
		return err
	}
	r.Recurring = recurring
	if trigger.Type == TriggerCron {
		next, ok := recurrence.Next(now)
		if !ok {
			return errs.InvalidField(field, "never comes")
		}
		r.at(next)
	}
	return nil
}

// at lets the reminder wait for a time.
func (r *Reminder) at(t time.Time) {
	t = t.UTC().Truncate(time.Millisecond)
	next := t
	r.ScheduledFor, r.Next = &t, &next
}

// cleanContext checks a context, takes its white space out and cuts the
// secrets out of its strings.
func cleanContext(redaction *redact.Redaction, raw json.RawMessage) (json.RawMessage, error) {
	if text := bytes.TrimSpace(raw); len(text) == 0 || bytes.Equal(text, []byte("null")) {
		return nil, nil
	}
	if err := check.Text("context", string(raw), 4*MaxReminderContext); err != nil {
		return nil, err
	}
	if strictjson.Depth(raw) > maxContextDepth {
		return nil, errs.InvalidField("context", "is nested deeper than %d", maxContextDepth)
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber() // numbers stay as they were written
	var object map[string]any
	if err := decoder.Decode(&object); err != nil || decoder.More() {
		return nil, errs.InvalidField("context", "must be a JSON object")
	}
	text, err := strictjson.Plain(object)
	if err != nil {
		return nil, errs.InvalidField("context", "must be a JSON object")
	}
	text = redaction.JSON(text)
	if len(text) > MaxReminderContext {
		return nil, check.Text("context", string(text), MaxReminderContext)
	}
	return text, nil
}
