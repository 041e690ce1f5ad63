package httpapi

import (
	"context"
	"net/http"
	"time"

	"skillrouter/comms"
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

func (s *Server) presenceRoutes() {
	presence := s.services.Presence
	if presence == nil {
		return
	}
	registerHot(s, operation(http.MethodPost, "/heartbeat", "comms", "Check in; the answer says whether to stop and whether messages wait"), presence.Heartbeat)
	register(s, operation(http.MethodPost, "/status", "comms", "Say what the agent is doing, and how far it has come"),
		func(ctx context.Context, in *struct{ Body comms.StatusReport }) (*answer[comms.StatusAnswer], error) {
			a, err := presence.Status(ctx, in.Body)
			return reply(a), err
		})
	register(s, operation(http.MethodGet, "/shutdown-check", "comms", "Whether to stop, and what would be lost: unacknowledged messages and unfinished tasks"),
		func(ctx context.Context, in *struct {
			AgentID string `query:"agent_id" required:"true"`
		},
		) (*answer[comms.ShutdownAnswer], error) {
			a, err := presence.ShutdownCheck(ctx, in.AgentID)
			return reply(a), err
		})
	register(s, operation(http.MethodGet, "/api/agents", "agents", "List agents, the latest seen first"),
		func(ctx context.Context, in *struct {
			State   operational.AgentState `query:"state" enum:"starting,online,stale,offline"`
			Status  string                 `query:"status" doc:"What the agent says of itself, in any case"`
			Project string                 `query:"project" doc:"Last element of the project's path, in any case"`
			Role    string                 `query:"role" doc:"In any case"`
			Task    string                 `query:"task" doc:"Part of the current task, in any case"`
			Skip    int                    `query:"skip" minimum:"0" doc:"Leave out so many of the first ones"`
			Limit   int                    `query:"limit" minimum:"0" maximum:"1000" doc:"0: 100"`
		},
		) (*answer[AgentList], error) {
			list, err := presence.Agents(ctx, operational.AgentFilter{
				State: in.State, Status: in.Status, Project: in.Project, Role: in.Role, Task: in.Task, Skip: in.Skip, Limit: in.Limit,
			})
			return reply(AgentList{Agents: emptied(list), Count: len(list)}), err
		})
	register(s, operation(http.MethodGet, "/api/agents/{id}", "agents", "One agent"),
		func(ctx context.Context, in *struct {
			ID string `path:"id"`
		},
		) (*answer[operational.Agent], error) {
			a, err := presence.Agent(ctx, in.ID)
			return reply(a), err
		})
}

func (s *Server) mailboxRoutes() {
	mailbox := s.services.Mailbox
	if mailbox == nil {
		return
	}
	registerHot(s, operation(http.MethodPost, "/signal", "comms", "Send a signal to an agent, or to all; it is stored before it is answered"), mailbox.Send)
	register(s, operation(http.MethodPost, "/messages/ack", "comms", "Acknowledge messages: up to and including seq, or those with message_ids"),
		func(ctx context.Context, in *struct{ Body comms.Ack }) (*answer[AckAnswer], error) {
			n, err := mailbox.Ack(ctx, in.Body)
			return reply(AckAnswer{Acked: n}), err
		})
	register(s, operation(http.MethodPost, "/messages/read", "comms", "Mark messages as read: up to and including seq, or those with message_ids"),
		func(ctx context.Context, in *struct{ Body comms.Ack }) (*answer[ReadAnswer], error) {
			n, err := mailbox.Read(ctx, in.Body)
			return reply(ReadAnswer{Read: n}), err
		})
	register(s, operation(http.MethodGet, "/messages/inbox", "comms", "An agent's messages, the oldest first, for clients without SSE"),
		func(ctx context.Context, in *struct {
			AgentID string `query:"agent_id" required:"true"`
			Since   int64  `query:"since" minimum:"0" doc:"Only messages after this seq"`
			Unacked bool   `query:"unacked" doc:"Only those that are not acknowledged"`
			Thread  string `query:"thread" doc:"Only this thread"`
			Limit   int    `query:"limit" minimum:"0" maximum:"1000" doc:"0: 100"`
		},
		) (*answer[comms.Inbox], error) {
			page, err := mailbox.Inbox(ctx, comms.InboxQuery{AgentID: in.AgentID, Since: in.Since, Unacked: in.Unacked, Thread: in.Thread, Limit: in.Limit})
			return reply(page), err
		})
	register(s, operation(http.MethodGet, "/messages/overdue", "comms", "Messages that want an acknowledgement and have waited for one longer than age_seconds"),
		func(ctx context.Context, in *struct {
			Age   float64 `query:"age_seconds" minimum:"0" maximum:"315360000"`
			Limit int     `query:"limit" minimum:"0" maximum:"1000" doc:"0: 100"`
		},
		) (*answer[OverdueList], error) {
			list, err := mailbox.Overdue(ctx, time.Duration(in.Age*float64(time.Second)), in.Limit)
			return reply(OverdueList{Messages: emptied(list), Count: len(list)}), err
		})
	register(s, operation(http.MethodGet, "/messages/{id}/receipts", "comms", "How far a message has come with each recipient"),
		func(ctx context.Context, in *struct {
			ID string `path:"id" doc:"The message's message_id"`
		},
		) (*answer[comms.MessageReceipts], error) {
			receipts, err := mailbox.Receipts(ctx, in.ID)
			return reply(receipts), err
		})
}
