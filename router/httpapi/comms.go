package httpapi

import (
	"context"
	"net/http"
	"time"

	"skillrouter/comms"
	"skillrouter/comms/lease"
	"skillrouter/operational"
)

// AckAnswer is the answer of POST /messages/ack.
type AckAnswer struct {
	Acked int64 `json:"acked" doc:"How many were not acknowledged before"`
}

// ReadAnswer is the answer of POST /messages/read.
type ReadAnswer struct {
	Read int64 `json:"read" doc:"How many were not read before"`
}

// AgentList is the answer of GET /api/agents.
type AgentList struct {
	Agents []operational.Agent `json:"agents"`
	Count  int                 `json:"count" doc:"How many are in this answer"`
}

// OverdueList is the answer of GET /messages/overdue.
type OverdueList struct {
	Messages []comms.OverdueMessage `json:"messages"`
	Count    int                    `json:"count" doc:"How many are in this answer"`
}

func (s *Server) presenceRoutes(presence comms.PresenceService) {
	registerHot(s, operation(http.MethodPost, "/heartbeat", "comms", "Check in; the answer says whether to stop and whether messages wait"), presence.Heartbeat)
	at := s.at("comms", "")
	at.post("/status", "Say what the agent is doing, and how far it has come", sent(presence.Status))
	at.get("/shutdown-check", "Whether to stop, and what would be lost: unacknowledged messages and unfinished tasks", typed(func(ctx context.Context, in *struct {
		AgentID string `query:"agent_id" required:"true"`
	},
	) (comms.ShutdownAnswer, error) {
		return presence.ShutdownCheck(ctx, in.AgentID)
	}))
	at = s.at("agents", "/api/agents")
	at.get("", "List agents, the latest seen first",
		asked(as(presence.Agents, func(list []operational.Agent) AgentList { return AgentList{list, len(list)} })))
	at.get("/{id}", "One agent", named(presence.Agent))
}

func (s *Server) mailboxRoutes(mailbox comms.MailboxService) {
	registerHot(s, operation(http.MethodPost, "/signal", "comms", "Send a signal to an agent, or to all; it is stored before it is answered"), mailbox.Send)
	at := s.at("comms", "/messages")
	at.post("/ack", "Acknowledge messages: up to and including seq, or those with message_ids",
		sent(as(mailbox.Ack, func(n int64) AckAnswer { return AckAnswer{n} })))
	at.post("/read", "Mark messages as read: up to and including seq, or those with message_ids",
		sent(as(mailbox.Read, func(n int64) ReadAnswer { return ReadAnswer{n} })))
	at.get("/inbox", "An agent's messages, the oldest first, for clients without SSE", asked(mailbox.Inbox))
	at.get("/overdue", "Messages that want an acknowledgement and have waited for one longer than age_seconds", typed(func(ctx context.Context, in *struct {
		Age   float64 `query:"age_seconds" minimum:"0" maximum:"315360000"`
		Limit int     `query:"limit" minimum:"0" maximum:"1000" doc:"0: 100"`
	},
	) (OverdueList, error) {
		list, err := mailbox.Overdue(ctx, time.Duration(in.Age*float64(time.Second)), in.Limit)
		return OverdueList{list, len(list)}, err
	}))
	at.get("/{id}/receipts", "How far a message has come with each recipient", named(mailbox.Receipts).saying("The message's message_id"))
}

// LeaseList is the answer of GET /api/leases, and of what is given back.
type LeaseList struct {
	Leases []operational.Lease `json:"leases"`
	Count  int                 `json:"count" doc:"How many are in this answer"`
}

func (s *Server) leaseRoutes(leases lease.Service) {
	listed := func(list []operational.Lease) LeaseList { return LeaseList{list, len(list)} }
	at := s.at("leases", "/api/leases")
	at.post("", "Take a lease of files, or take one again that the agent holds", sent(leases.Take))
	at.get("", "The leases that are held, the latest first", asked(as(leases.Leases, listed)))
	at.post("/release", "Give leases back: those with lease_ids, or all of the agent's", sent(as(leases.Release, listed)))
	at.post("/ask", "Send a message to the holder of a lease", sent(leases.Ask))
	at.post("/check", "What speaks against changes of files", sent(leases.Check))
	at.post("/late", "The same of changes that were made while the router was away; who they concern is told", sent(leases.Late))
}
