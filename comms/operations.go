package comms

import "github.com/skillrouter/skillrouter/internal/operation"

// Operations is how the methods of each service here are called from outside.
var Operations = struct{ Presence, Mailbox, Mesh operation.List }{
	Presence: operation.With(
		operation.Of("comms", "",
			operation.Post("/heartbeat", "Check in; the answer says whether to stop and whether messages wait", PresenceService.Heartbeat).Keeps(),
			operation.Post("/status", "Say what the agent is doing, and how far it has come", PresenceService.Status).Keeps(),
			operation.Get("/shutdown-check", "Whether to stop, and what would be lost: unacknowledged messages and unfinished tasks", PresenceService.ShutdownCheck).
				Takes("agent_id!").Keeps(),
		),
		operation.Of("agents", "/api/agents",
			operation.Get("", "List agents, the latest seen first", PresenceService.Agents).Holds("agents").Keeps(),
			operation.Get("/{id}", "One agent", PresenceService.Agent).Keeps(),
		),
	),
	Mailbox: operation.With(
		operation.Of("comms", "", operation.Post("/signal", "Send a signal to an agent, or to all; it is stored before it is answered", MailboxService.Send).Keeps()),
		operation.Of("comms", "/messages",
			operation.Post("/ack", "Acknowledge messages: up to and including seq, or those with message_ids", MailboxService.Ack).Holds("acked").Keeps(),
			operation.Post("/read", "Mark messages as read: up to and including seq, or those with message_ids", MailboxService.Read).Holds("read").Keeps(),
			operation.Get("/inbox", "An agent's messages, the oldest first, for clients without SSE", MailboxService.Inbox).Keeps(),
			operation.Get("/overdue", "Messages that want an acknowledgement and have waited for one longer than age_seconds", MailboxService.Overdue).Holds("messages"),
			operation.Get("/{id}/receipts", "How far a message has come with each recipient", MailboxService.Receipts).Named("The message's message_id"),
		),
	),
	Mesh: operation.Of("system", "/api/interlock",
		operation.Get("", "The UDP mesh: its peers, when they were heard, and what was heard, emitted and refused, by reason", MeshService.Mesh)),
}
