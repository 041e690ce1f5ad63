package operational

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/redact"
	"github.com/skillrouter/skillrouter/internal/strictjson"
)

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
