package app

import (
	"context"

	"skillrouter/operational"
	"skillrouter/router"
)

func (a *App) wireReminders(ctx context.Context, p *parts) error {
	reminders := operational.NewReminders(p.operations, operational.ReminderOptions{
		Now: a.now, Log: a.log, Mail: p.mailbox, Recipients: router.NewReminderRoster(p.presence, a.now), Elsewhere: p.memory.LastEvent,
	})
	a.life.run(ctx, "reminders", reminders.Run)
	p.reminders = reminders
	return nil
}
