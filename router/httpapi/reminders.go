package httpapi

import (
	"context"

	"skillrouter/operational"
)

// ReminderList is the answer of GET /api/reminders.
type ReminderList struct {
	Reminders []operational.Reminder `json:"reminders"`
	Count     int                    `json:"count" doc:"How many are in this answer"`
}

func reminderList(list []operational.Reminder) ReminderList { return ReminderList{list, len(list)} }

// Fired is the answer of POST /api/reminders/events.
type Fired struct {
	Fired int `json:"fired" doc:"How many reminders came due"`
}

func (s *Server) reminderRoutes(reminders operational.ReminderService) {
	at := s.at("reminders", "/api/reminders")
	at.post("", "Schedule a reminder: a task, and the trigger that it waits for", created(sent(reminders.Schedule)))
	at.get("", "List reminders: those that are due first, then by number", asked(as(reminders.List, reminderList)))
	at.get("/pending", "What is due for an agent or a persona; what was delivered to nobody counts as delivered to the agent that asks",
		asked(as(reminders.Pending, reminderList)))
	at.get("/stats", "Count reminders by persona and status", bare(reminders.Stats))
	at.post("/events", "Tell of something by name; the reminders that wait for it come due",
		sent(as(reminders.Happened, func(n int) Fired { return Fired{n} })))
	at.get("/{id}", "One reminder", named(reminders.Reminder).saying("The reminder's number"))
	at.patch("/{id}", "Change what an open reminder says: the fields that are sent", changedReminder(reminders.Edit))
	at.post("/{id}/complete", "Say that it is done; one that recurs waits for its next time", changedReminder(reminders.Complete))
	at.post("/{id}/cancel", "End it, because it is not wanted any more", changedReminder(reminders.Cancel))
	at.post("/{id}/snooze", "Let it come again later: for 10min, 2h, 1 day, or until a time", changedReminder(reminders.Snooze))
}

// reminderChange is a change of one reminder, with a body that may be left out.
type reminderChange[Body any] struct {
	Number int64 `path:"id" doc:"The reminder's number"`
	Body   *Body
}

func changedReminder[Body any](change func(ctx context.Context, number int64, body Body) (operational.Reminder, error)) handler {
	return typed(func(ctx context.Context, in *reminderChange[Body]) (operational.Reminder, error) {
		return change(ctx, in.Number, given(in.Body))
	})
}
