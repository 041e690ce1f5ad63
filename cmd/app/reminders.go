package app

import (
	"context"
	"fmt"

	"skillrouter/operational"
	"skillrouter/router/reminder"
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
	a.life.run(ctx, "reminders", reminders.Run)
	a.life.run(ctx, "reminder watch", watch.Run)
	p.reminders = reminders
	return nil
}
