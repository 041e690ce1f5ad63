// Package comms lets agents and the router reach each other. It owns presence (heartbeats, status, who
// is there), the mailbox (messages, receipts, delivery) and shutdown. It keeps in memory what would
// otherwise cost a sync to disk each time: when an agent was last seen, and what was delivered. It
// knows neither SQL nor HTTP.
package comms

import (
	"context"
	"encoding/json"
	"time"

	"github.com/skillrouter/skillrouter/operational"
)

// PresenceService is what agents and their Captain can do about presence.
// Presence implements it beside the database, router/client over HTTP.
type PresenceService interface {
	// Heartbeat checks an agent in, making it known if it was not.
	Heartbeat(ctx context.Context, beat Heartbeat) (HeartbeatAnswer, error)
	// Status records what an agent says it is doing.
	Status(ctx context.Context, report StatusReport) (StatusAnswer, error)
	// ShutdownCheck tells an agent whether it should stop, and what would be lost if it did.
	ShutdownCheck(ctx context.Context, agentID string) (ShutdownAnswer, error)
	// Agents lists agents, the latest seen first.
	Agents(ctx context.Context, filter operational.AgentFilter) ([]operational.Agent, error)
	// Agent returns one agent.
	Agent(ctx context.Context, id string) (operational.Agent, error)
}

// MailboxService is what agents and their Captain can do with signals.
// Mailbox implements it beside the database, router/client over HTTP.
type MailboxService interface {
	// Send stores a message and then hands it to whoever listens. It returns once it is stored.
	Send(ctx context.Context, draft operational.MessageDraft) (Sent, error)
	// Inbox lists an agent's messages, the oldest first.
	Inbox(ctx context.Context, query InboxQuery) (Inbox, error)
	// Ack acknowledges messages of an agent and returns how many were not acknowledged before.
	Ack(ctx context.Context, ack Ack) (int64, error)
	// Read marks messages of an agent as read and returns how many were not before.
	Read(ctx context.Context, read Ack) (int64, error)
	// Receipts tells how far a message has come with each recipient.
	Receipts(ctx context.Context, messageID string) (MessageReceipts, error)
	// Overdue lists messages that want an acknowledgement and have waited for one.
	Overdue(ctx context.Context, query OverdueQuery) ([]OverdueMessage, error)
}

// Heartbeat is what an agent says at each check-in (POST /heartbeat).
type Heartbeat struct {
	AgentID     string `json:"agent_id" actor:"true"`
	ConfigName  string `json:"config_name,omitempty"`
	ProjectPath string `json:"project_path,omitempty"`
	Project     string `json:"project,omitempty"` // empty: the last element of ProjectPath
	Status      string `json:"status,omitempty" doc:"working, idle, blocked, …"`
	CurrentTask string `json:"current_task,omitempty"`
	PID         int    `json:"pid,omitempty"`
	Model       string `json:"model,omitempty"`
	Role        string `json:"role,omitempty"`
}

// HeartbeatAnswer is the router's answer to a heartbeat.
type HeartbeatAnswer struct {
	OK           bool      `json:"ok"`
	Timestamp    time.Time `json:"timestamp"`
	ShouldStop   bool      `json:"should_stop"`
	StopReason   string    `json:"stop_reason,omitempty"`
	HasMessages  bool      `json:"has_messages"`
	MessageCount int       `json:"message_count,omitempty"` // not acknowledged yet
	Redacted     []string  `json:"redacted,omitempty"`      // kinds of secret that were cut out of what the agent said
}

// StatusReport is what an agent reports of its work (POST /status).
type StatusReport struct {
	AgentID     string   `json:"agent_id" actor:"true"`
	Status      string   `json:"status" doc:"working, idle, blocked, …"`
	CurrentTask *string  `json:"current_task,omitempty" doc:"Empty: none"` // absent: unchanged; empty: none
	Progress    *float64 `json:"progress,omitempty" range:"0,100"`         // 0 to 100, rounded to a whole number
}

// StatusAnswer is the router's answer to a status report.
type StatusAnswer struct {
	OK        bool      `json:"ok"`
	Timestamp time.Time `json:"timestamp"`
	Redacted  []string  `json:"redacted,omitempty"` // kinds of secret that were cut out of the report
}

// ShutdownAnswer tells an agent whether it should stop (GET /shutdown-check).
type ShutdownAnswer struct {
	ShouldStop      bool                  `json:"should_stop"`
	Reason          string                `json:"reason,omitempty"`
	Unacknowledged  []operational.Message `json:"unacknowledged"`   // at most HandoverLimit, the oldest first
	UnfinishedTasks []operational.Task    `json:"unfinished_tasks"` // at most HandoverLimit
}

// Sent says what became of a signal (POST /signal).
type Sent struct {
	Delivered  bool     `json:"delivered"` // a live subscriber was handed it; otherwise it is stored and waits
	Target     string   `json:"target"`    // the agent's id, the group's name, or "broadcast"
	Signal     string   `json:"signal"`
	MessageID  string   `json:"message_id"`
	Seq        int64    `json:"seq"`
	Redacted   []string `json:"redacted,omitempty"`   // kinds of secret that were cut out of the context
	Recipients []string `json:"recipients,omitempty"` // the members of the group that a stop, pause or resume went to, each its own
	Duplicate  bool     `json:"duplicate,omitempty"`  // the idempotency key was used before; this is the message it stands for
}

// InboxQuery asks for an agent's messages.
type InboxQuery struct {
	AgentID string `query:"agent_id" required:"true"`
	Since   int64  `query:"since" minimum:"0" doc:"Only messages after this seq"`
	Unacked bool   `query:"unacked" doc:"Only those that are not acknowledged"`
	Thread  string `query:"thread" doc:"Only this thread"`
	Limit   int    `query:"limit" minimum:"0" maximum:"1000" doc:"0: 100"` // 1 to MaxLimit; 0 means DefaultLimit
}

// InboxMessage is a message, and whether the asking agent has received, read or acknowledged
// it.
type InboxMessage struct {
	operational.Message
	Delivered bool `json:"delivered"`
	Read      bool `json:"read"`
	Acked     bool `json:"acked"`
}

// Inbox is a page of an agent's messages.
type Inbox struct {
	Messages []InboxMessage `json:"messages"`
	Count    int            `json:"count"`
	LastSeq  int64          `json:"last_seq"` // ask again with since = this for the next page
	More     bool           `json:"more"`
}

// Ack names messages: all up to and including Seq, or those with the ids.
type Ack struct {
	AgentID    string   `json:"agent_id"`
	Seq        int64    `json:"seq,omitempty"`
	MessageIDs []string `json:"message_ids,omitempty"`
}

// MessageReceipts is a message and its recipients.
type MessageReceipts struct {
	Message  operational.Message   `json:"message"`
	Receipts []operational.Receipt `json:"receipts"`
}

// OverdueQuery asks for messages that have waited for an acknowledgement.
type OverdueQuery struct {
	Age   float64 `query:"age_seconds" minimum:"0" maximum:"315360000" doc:"For longer than this; 0: all of them"`
	Limit int     `query:"limit" minimum:"0" maximum:"1000" doc:"0: 100"`
}

// OverdueMessage is a message that somebody should have acknowledged.
type OverdueMessage struct {
	operational.Message
	Waiting []string `json:"waiting"` // the agents that have not
	AgeMS   int64    `json:"age_ms"`
}

// Bounds.
const (
	// MaxContext bounds a signal's context, in bytes of JSON: a signal says where
	// the matter lies, it is not the matter.
	MaxContext = 64 << 10
	// HandoverLimit bounds each list of a ShutdownAnswer; polling must stay cheap.
	HandoverLimit = 50
	DefaultLimit  = 100
	MaxLimit      = 1000
)

// Object tells whether raw is absent or a JSON object.
func Object(raw json.RawMessage) bool {
	for _, c := range raw {
		switch c {
		case ' ', '\t', '\r', '\n':
			continue
		}
		return c == '{'
	}
	return true
}
