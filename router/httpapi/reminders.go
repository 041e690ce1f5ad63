package httpapi

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"skillrouter/operational"
)

// ReminderList is the answer of GET /api/reminders.
type ReminderList struct {
	Reminders []operational.Reminder `json:"reminders"`
	Count     int                    `json:"count" doc:"How many are in this answer"`
}

// Fired is the answer of POST /api/reminders/events.
type Fired struct {
	Fired int `json:"fired" doc:"How many reminders came due"`
}

type reminderNumber struct {
	Number int64 `path:"id" doc:"The reminder's number"`
}

// reminderChange is a change of one reminder, with a body that may be left out.
type reminderChange[Body any] struct {
	Number int64 `path:"id" doc:"The reminder's number"`
	Body   *Body
}

func (s *Server) reminderRoutes() {
	reminders := s.services.Reminders
	if reminders == nil {
		return
	}
	op := func(method, path, summary string) huma.Operation {
		return operation(method, "/api/reminders"+path, "reminders", summary)
	}
	created := op(http.MethodPost, "", "Schedule a reminder: a task, and the trigger that it waits for")
	created.DefaultStatus = http.StatusCreated
	register(s, created, func(ctx context.Context, in *struct{ Body operational.ReminderDraft }) (*answer[operational.Reminder], error) {
		r, err := reminders.Schedule(ctx, in.Body)
		return &answer[operational.Reminder]{Status: http.StatusCreated, Body: r}, err
	})
	register(s, op(http.MethodGet, "", "List reminders: those that are due first, then by number"),
		func(ctx context.Context, in *struct {
			Persona string                       `query:"persona"`
			AgentID string                       `query:"agent_id" doc:"Those for this agent; and those for nobody in particular, of the persona, or that it made or was told of"`
			Status  []operational.ReminderStatus `query:"status" doc:"One or more, separated by commas: pending, due, completed, cancelled"`
			Open    bool                         `query:"open" doc:"Only pending and due ones"`
			Project string                       `query:"project"`
			After   int64                        `query:"after" minimum:"0" doc:"Only greater numbers, by number"`
			Limit   int                          `query:"limit" minimum:"0" maximum:"1000" doc:"0: 100"`
		},
		) (*answer[ReminderList], error) {
			list, err := reminders.List(ctx, operational.ReminderFilter{
				Persona: in.Persona, AgentID: in.AgentID, Status: in.Status, Open: in.Open, Project: in.Project, After: in.After, Limit: in.Limit,
			})
			return reply(ReminderList{Reminders: emptied(list), Count: len(list)}), err
		})
	register(s, op(http.MethodGet, "/pending", "What is due for an agent or a persona; what was delivered to nobody counts as delivered to the agent that asks"),
		func(ctx context.Context, in *struct {
			Persona          string `query:"persona" doc:"Default: default"`
			AgentID          string `query:"agent_id" doc:"What is for this agent too"`
			IncludeScheduled bool   `query:"include_scheduled" doc:"What is not due yet too"`
			Limit            int    `query:"limit" minimum:"0" maximum:"1000" doc:"0: 100"`
		},
		) (*answer[ReminderList], error) {
			list, err := reminders.Pending(ctx, operational.PendingQuery{
				Persona: in.Persona, AgentID: in.AgentID, IncludeScheduled: in.IncludeScheduled, Limit: in.Limit,
			})
			return reply(ReminderList{Reminders: emptied(list), Count: len(list)}), err
		})
	register(s, op(http.MethodGet, "/stats", "Count reminders by persona and status"),
		func(ctx context.Context, _ *struct{}) (*answer[operational.ReminderStats], error) {
			stats, err := reminders.Stats(ctx)
			return reply(stats), err
		})
	register(s, op(http.MethodPost, "/events", "Tell of something by name; the reminders that wait for it come due"),
		func(ctx context.Context, in *struct{ Body operational.Happening }) (*answer[Fired], error) {
			n, err := reminders.Happened(ctx, in.Body)
			return reply(Fired{n}), err
		})
	register(s, op(http.MethodGet, "/{id}", "One reminder"),
		func(ctx context.Context, in *reminderNumber) (*answer[operational.Reminder], error) {
			r, err := reminders.Reminder(ctx, in.Number)
			return reply(r), err
		})
	changeReminder(s, op(http.MethodPost, "/{id}/complete", "Say that it is done; one that recurs waits for its next time"), reminders.Complete)
	changeReminder(s, op(http.MethodPost, "/{id}/cancel", "End it, because it is not wanted any more"), reminders.Cancel)
	changeReminder(s, op(http.MethodPost, "/{id}/snooze", "Let it come again later: for 10min, 2h, 1 day, or until a time"), reminders.Snooze)
}

// changeReminder mounts a change of one reminder.
func changeReminder[Body any](s *Server, op huma.Operation, change func(ctx context.Context, number int64, body Body) (operational.Reminder, error)) {
	register(s, op, func(ctx context.Context, in *reminderChange[Body]) (*answer[operational.Reminder], error) {
		r, err := change(ctx, in.Number, given(in.Body))
		return reply(r), err
	})
}
