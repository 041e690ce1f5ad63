package httpapi

import (
	"context"
	"time"

	"skillrouter/comms"
)

// OverdueList is the answer of GET /messages/overdue.
type OverdueList struct {
	Messages []comms.OverdueMessage `json:"messages"`
	Count    int                    `json:"count" doc:"How many are in this answer"`
}

func (s *Server) presenceRoutes(presence comms.PresenceService) {
	offer(s, comms.Operations.Presence, presence)
	shorten(s, "/heartbeat", presence.Heartbeat)
}

func (s *Server) mailboxRoutes(mailbox comms.MailboxService) {
	offer(s, comms.Operations.Mailbox, mailbox)
	shorten(s, "/signal", mailbox.Send)
	s.at("comms", "/messages").get("/overdue", "Messages that want an acknowledgement and have waited for one longer than age_seconds", typed(func(ctx context.Context, in *struct {
		Age   float64 `query:"age_seconds" minimum:"0" maximum:"315360000"`
		Limit int     `query:"limit" minimum:"0" maximum:"1000" doc:"0: 100"`
	},
	) (OverdueList, error) {
		list, err := mailbox.Overdue(ctx, time.Duration(in.Age*float64(time.Second)), in.Limit)
		return OverdueList{list, len(list)}, err
	}))
}
