package mcpserver_test

import (
	"context"

	"github.com/skillrouter/skillrouter/operational"
)

// houseReminders has one reminder, as small as the tools' tests need it.
type houseReminders struct {
	operational.ReminderService // what no tool calls
	house                       *house
}

var houseReminder = operational.Reminder{
	Number: 7, Persona: "coder", Task: "Look again", TriggerType: operational.TriggerTime, TriggerValue: "+1hour", Status: operational.ReminderDue,
	ScheduledFor: &noon, Next: &noon, CreatedBy: "a", Missed: true, Context: []byte(`{"a":1}`),
}

func (h houseReminders) Schedule(ctx context.Context, d operational.ReminderDraft) (operational.Reminder, error) {
	return houseReminder, h.house.enter(ctx, d.Task)
}

func (h houseReminders) Pending(ctx context.Context, q operational.PendingQuery) ([]operational.Reminder, error) {
	return []operational.Reminder{houseReminder}, h.house.enter(ctx, q.Persona)
}

func (h houseReminders) Complete(context.Context, int64, operational.ReminderNote) (operational.Reminder, error) {
	return houseReminder, nil
}

func (h houseReminders) Cancel(context.Context, int64, operational.ReminderNote) (operational.Reminder, error) {
	return houseReminder, nil
}

func (h houseReminders) Snooze(context.Context, int64, operational.ReminderSnooze) (operational.Reminder, error) {
	return houseReminder, nil
}

func (h houseReminders) Happened(ctx context.Context, happening operational.Happening) (int, error) {
	return 2, h.house.enter(ctx, happening.Name)
}
