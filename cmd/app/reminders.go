package app

import (
	"context"
	"fmt"

	"skillrouter/operational"
	"skillrouter/router/reminder"
	"skillrouter/router/session"
)

func (a *App) wireReminders(ctx context.Context, p *parts) error {
	reminders := operational.NewReminders(p.operations, operational.ReminderOptions{
		Now: a.now, Log: a.log, Mail: p.mailbox, Recipients: reminder.NewRoster(p.presence, a.now),
		Condition: reminder.CheckCondition, Elsewhere: p.memory.LastEvent,
	})
	watch, err := reminder.NewWatch(ctx, reminder.Ports{
		Reminders: reminders, Cursors: p.operations, Learning: p.memory, Operational: p.operations, Signals: p.operations.SignalLog(),
		Episodes: p.memory, Facts: p.memory,
	}, a.now, a.log)
	if err != nil {
		return fmt.Errorf("read how far the logs were followed for reminders: %w", err)
	}
	a.runs(ctx, "reminders", reminders.Run)
	a.runs(ctx, "reminder watch", watch.Run)
	p.reminders = reminders
	return nil
}

// wireSessions builds the sessions, which hand over what the parts before them have open.
func (a *App) wireSessions(ctx context.Context, p *parts) error {
	sessions, err := session.NewSessions(ctx, session.Ports{
		Store: p.operations, Episodes: p.episodes, Tasks: p.tasks, Mail: p.presence,
		Procedures: p.procedures, Reminders: p.reminders, Consolidation: p.consolidation,
	}, session.Options{Now: a.now, Log: a.log})
	if err != nil {
		return fmt.Errorf("load the open sessions: %w", err)
	}
	p.sessions = sessions
	return nil
}
