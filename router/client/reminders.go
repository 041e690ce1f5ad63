package client

import (
	"context"
	"net/http"

	"skillrouter/operational"
)

// Reminders is operational.ReminderService over HTTP.
type Reminders struct{ c *Client }

var _ operational.ReminderService = Reminders{}

// Schedule implements operational.ReminderService.
func (r Reminders) Schedule(ctx context.Context, draft operational.ReminderDraft) (operational.Reminder, error) {
	return call[operational.Reminder](ctx, r.c, http.MethodPost, at("/api/reminders"), draft)
}

// Reminder implements operational.ReminderService.
func (r Reminders) Reminder(ctx context.Context, number int64) (operational.Reminder, error) {
	return call[operational.Reminder](ctx, r.c, http.MethodGet, at("/api/reminders/{id}", number), nil)
}

// List implements operational.ReminderService.
func (r Reminders) List(ctx context.Context, filter operational.ReminderFilter) ([]operational.Reminder, error) {
	return list[operational.Reminder](ctx, r.c, at("/api/reminders").with(filter), "reminders")
}

// Pending implements operational.ReminderService.
func (r Reminders) Pending(ctx context.Context, query operational.PendingQuery) ([]operational.Reminder, error) {
	return list[operational.Reminder](ctx, r.c, at("/api/reminders/pending").with(query), "reminders")
}

// Complete implements operational.ReminderService.
func (r Reminders) Complete(ctx context.Context, number int64, note operational.ReminderNote) (operational.Reminder, error) {
	return call[operational.Reminder](ctx, r.c, http.MethodPost, at("/api/reminders/{id}/complete", number), note)
}

// Cancel implements operational.ReminderService.
func (r Reminders) Cancel(ctx context.Context, number int64, note operational.ReminderNote) (operational.Reminder, error) {
	return call[operational.Reminder](ctx, r.c, http.MethodPost, at("/api/reminders/{id}/cancel", number), note)
}

// Edit implements operational.ReminderService.
func (r Reminders) Edit(ctx context.Context, number int64, patch operational.ReminderPatch) (operational.Reminder, error) {
	return call[operational.Reminder](ctx, r.c, http.MethodPatch, at("/api/reminders/{id}", number), patch)
}

// Snooze implements operational.ReminderService.
func (r Reminders) Snooze(ctx context.Context, number int64, snooze operational.ReminderSnooze) (operational.Reminder, error) {
	return call[operational.Reminder](ctx, r.c, http.MethodPost, at("/api/reminders/{id}/snooze", number), snooze)
}

// Happened implements operational.ReminderService.
func (r Reminders) Happened(ctx context.Context, happening operational.Happening) (int, error) {
	answer, err := call[struct {
		Fired int `json:"fired"`
	}](ctx, r.c, http.MethodPost, at("/api/reminders/events"), happening)
	return answer.Fired, err
}

// Stats implements operational.ReminderService.
func (r Reminders) Stats(ctx context.Context) (operational.ReminderStats, error) {
	return call[operational.ReminderStats](ctx, r.c, http.MethodGet, at("/api/reminders/stats"), nil)
}
