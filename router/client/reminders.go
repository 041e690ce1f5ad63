package client

import (
	"context"
	"net/http"
	"strconv"

	"skillrouter/operational"
)

// Reminders is operational.ReminderService over HTTP.
type Reminders struct{ c *Client }

var _ operational.ReminderService = Reminders{}

const remindersPath = "/api/reminders"

type reminderListing struct {
	Reminders []operational.Reminder `json:"reminders"`
}

// Schedule implements operational.ReminderService.
func (r Reminders) Schedule(ctx context.Context, draft operational.ReminderDraft) (operational.Reminder, error) {
	return call[operational.Reminder](ctx, r.c, http.MethodPost, remindersPath, nil, draft)
}

// Reminder implements operational.ReminderService.
func (r Reminders) Reminder(ctx context.Context, number int64) (operational.Reminder, error) {
	return call[operational.Reminder](ctx, r.c, http.MethodGet, reminderPath(number, ""), nil, nil)
}

// List implements operational.ReminderService.
func (r Reminders) List(ctx context.Context, filter operational.ReminderFilter) ([]operational.Reminder, error) {
	answer, err := call[reminderListing](ctx, r.c, http.MethodGet, remindersPath, values(
		"persona", filter.Persona, "agent_id", filter.AgentID, "status", list(filter.Status), "open", filter.Open,
		"project", filter.Project, "after", filter.After, "limit", filter.Limit), nil)
	return answer.Reminders, err
}

// Pending implements operational.ReminderService.
func (r Reminders) Pending(ctx context.Context, query operational.PendingQuery) ([]operational.Reminder, error) {
	answer, err := call[reminderListing](ctx, r.c, http.MethodGet, remindersPath+"/pending", values(
		"persona", query.Persona, "agent_id", query.AgentID, "include_scheduled", query.IncludeScheduled, "limit", query.Limit), nil)
	return answer.Reminders, err
}

// Complete implements operational.ReminderService.
func (r Reminders) Complete(ctx context.Context, number int64, note operational.ReminderNote) (operational.Reminder, error) {
	return call[operational.Reminder](ctx, r.c, http.MethodPost, reminderPath(number, "/complete"), nil, note)
}

// Cancel implements operational.ReminderService.
func (r Reminders) Cancel(ctx context.Context, number int64, note operational.ReminderNote) (operational.Reminder, error) {
	return call[operational.Reminder](ctx, r.c, http.MethodPost, reminderPath(number, "/cancel"), nil, note)
}

// Snooze implements operational.ReminderService.
func (r Reminders) Snooze(ctx context.Context, number int64, snooze operational.ReminderSnooze) (operational.Reminder, error) {
	return call[operational.Reminder](ctx, r.c, http.MethodPost, reminderPath(number, "/snooze"), nil, snooze)
}

// Happened implements operational.ReminderService.
func (r Reminders) Happened(ctx context.Context, happening operational.Happening) (int, error) {
	answer, err := call[struct {
		Fired int `json:"fired"`
	}](ctx, r.c, http.MethodPost, remindersPath+"/events", nil, happening)
	return answer.Fired, err
}

// Stats implements operational.ReminderService.
func (r Reminders) Stats(ctx context.Context) (operational.ReminderStats, error) {
	return call[operational.ReminderStats](ctx, r.c, http.MethodGet, remindersPath+"/stats", nil, nil)
}

func reminderPath(number int64, verb string) string {
	return remindersPath + "/" + strconv.FormatInt(number, 10) + verb
}
