package app

import (
	"context"
	"fmt"

	"skillrouter/router/session"
)

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
