package httpapi

import (
	"context"
	"time"

	"skillrouter/comms"
	"skillrouter/internal/operation"
)

// overdueQuery asks for messages that wait.
type overdueQuery struct {
	Age   float64 `query:"age_seconds" minimum:"0" maximum:"315360000"`
	Limit int     `query:"limit" minimum:"0" maximum:"1000" doc:"0: 100"`
}

func (s *Server) overdueRoute(mailbox comms.MailboxService) {
	s.offer(mailbox, operation.Below("comms", "/messages",
		operation.Get("/overdue", "Messages that want an acknowledgement and have waited for one longer than age_seconds",
			func(m comms.MailboxService, ctx context.Context, q overdueQuery) ([]comms.OverdueMessage, error) {
				return m.Overdue(ctx, time.Duration(q.Age*float64(time.Second)), q.Limit)
			}).Holds("messages")))
}
