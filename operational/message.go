package operational

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"
)

// The signals that the router itself acts on. Any other name is carried too.
const (
	SignalStop    = "stop"
	SignalPause   = "pause"
	SignalResume  = "resume"
	SignalMessage = "message"
)

// Message is one signal in the stored log. Seq is its place in the log. It grows with each
// message and is never used twice.
type Message struct {
	Seq            int64           `json:"seq"`
	ID             string          `json:"message_id"`
	From           string          `json:"from_agent_id"`
	To             string          `json:"to_agent_id,omitempty"` // empty: to every agent
	Group          string          `json:"to_group,omitempty"`    // it was sent to this group, of which To is a member
	Signal         string          `json:"signal"`
	Context        json.RawMessage `json:"context,omitempty"` // an object
	Priority       int             `json:"priority"`          // −10 to 10, 0 if nothing was said; the order of delivery stays that of Seq
	ThreadID       string          `json:"thread_id,omitempty"`
	AckRequired    bool            `json:"ack_required,omitempty"`
	Each           bool            `json:"each,omitempty"` // of a message to a group: every member gets it that comes, not the first alone
	IdempotencyKey string          `json:"idempotency_key,omitempty"`
	CreatedAt      time.Time       `json:"created_at"`
	ExpiresAt      *time.Time      `json:"expires_at,omitempty"` // after this it is handed to nobody
	CopyOf         int64           `json:"-"`                    // the seq of the message to a group that this is a member's copy of; 0: none
}

// MessageDraft is what a sender may say of a message.
type MessageDraft struct {
	From           string          `json:"from_agent_id,omitempty" actor:"true"`                                                            // the caller's own agent if empty
	To             string          `json:"to_agent_id,omitempty" doc:"An agent; a kind, project or role: its first that comes; \"*\": all"` // an agent, or a group: a kind of agents, a project, a role
	Signal         string          `json:"signal" doc:"message, stop, pause, resume, or your own"`
	Each           bool            `json:"each,omitempty" doc:"Each of a group"` // to a group: every member that comes gets it, and not the first alone
	Context        json.RawMessage `json:"context,omitempty" doc:"Such as {\"text\": \"…\"}" object:"true"`
	IdempotencyKey string          `json:"idempotency_key,omitempty"` // the same key of the same sender again is the same message
	Priority       int             `json:"priority,omitempty" doc:"-10 to 10"`
	ThreadID       string          `json:"thread_id,omitempty"`
	AckRequired    bool            `json:"ack_required,omitempty" doc:"Overdue until it is acknowledged"`
	TTLSeconds     int64           `json:"ttl_seconds,omitempty" unit:"s"` // 0: for ever
}

// SentReceipts is how far a message has come with those whom it is for, and who sent it.
type SentReceipts struct {
	From     string
	Receipts []Receipt
}

// Receipt says how far a message has come with one recipient. A step that has not happened
// yet has a nil time. The message is always stored before its receipts.
type Receipt struct {
	AgentID     string     `json:"agent_id"`
	Seq         int64      `json:"seq"`
	DeliveredAt *time.Time `json:"delivered_at,omitempty"` // written to the recipient's stream, or fetched by it
	ReadAt      *time.Time `json:"read_at,omitempty"`      // the recipient said that it has read it
	AckedAt     *time.Time `json:"acked_at,omitempty"`     // the recipient said that it has dealt with it
}

// MessageAppend is one message on its way into the log, and what became of it.
type MessageAppend struct {
	Message   Message // Seq is set once it is stored; for a duplicate all of it is the stored message
	Duplicate bool    // the sender had used the idempotency key for the same content before
	Err       error   // why this one was refused, while others of its batch were stored
	Full      error   // why it may only be a duplicate: there is no room for another; nil: there is
}

// Waiting is what one sender has in an agent's mailbox.
type Waiting struct {
	From  string
	Count int
	Bytes int64 // of the contexts
}

// MarkKind is one of the steps that a message takes with a recipient after it is stored.
type MarkKind string

// The steps, in the order in which they are usually taken.
const (
	MarkDelivered MarkKind = "delivered"
	MarkRead      MarkKind = "read"
	MarkAcked     MarkKind = "acked"
)

// MarkRequest says that an agent's messages have reached a step: all of them
// up to and including Seq, or those with the ids.
type MarkRequest struct {
	AgentID string
	Kind    MarkKind
	Seq     int64
	IDs     []string
	At      time.Time
}

// Marked is what a MarkRequest changed.
type Marked struct {
	Count   int64 // how many messages had not reached the step before
	Through int64 // the agent's cumulative mark of this kind afterwards
}

// Delivery says that an agent has received a message: only that message, or that one and all
// earlier ones.
type Delivery struct {
	AgentID string
	Seq     int64
	Through bool // every earlier one too
	At      time.Time
}

// MailQuery selects messages that are for an agent: those addressed to it,
// and the broadcasts of others after JoinedSeq.
type MailQuery struct {
	AgentID   string
	JoinedSeq int64
	After     int64     // only greater seqs
	Unacked   bool      // only those that it has not acknowledged
	AckedSeq  int64     // its cumulative mark, for Unacked
	Thread    string    // only this thread, if not empty
	Now       time.Time // what has expired by then is left out
	Limit     int       // most messages
	MaxBytes  int       // the answer ends after the message that exceeds this; 0: no bound
	// Speakers, if not nil, are those whose messages to everybody are selected.
	Speakers []string
}

// GroupQuery selects the messages to groups that one of their members may take copies of.
type GroupQuery struct {
	AgentID string
	Groups  []string
	Now     time.Time // what has expired by then is left out
	Limit   int       // most messages
}

// Awaited is a message whose acknowledgement is awaited, and from whom.
type Awaited struct {
	Message
	Waiting []string // agents, in order of their ids
}

// Swept is what one step of the retention sweep did.
type Swept struct {
	Examined int
	Deleted  int
	Next     int64 // begin the next step after this seq; 0: from the beginning
}

// Halts tells whether a signal is for those alone that live when it is sent: stop, pause or resume.
// Clients write signals as they like.
func Halts(signal string) bool {
	switch strings.ToLower(strings.TrimSpace(signal)) {
	case SignalStop, SignalPause, SignalResume:
		return true
	}
	return false
}

// StopReason is what a stop signal's recipient is told: the "reason" in its
// context, or who sent it.
func StopReason(m Message) string {
	var said struct {
		Reason string `json:"reason"`
	}
	// A reason of another type than text is no reason; the context was checked to be an object when it was sent.
	if err := json.Unmarshal(m.Context, &said); err == nil && said.Reason != "" {
		return said.Reason
	}
	return "stop signal from " + m.From
}

// Text is what the message says to a person: the text that its context holds. Empty: it holds none, or is no object.
func (m Message) Text() string {
	var said map[string]json.RawMessage
	if json.Unmarshal(m.Context, &said) != nil {
		return ""
	}
	for _, name := range []string{"text", "message", "reason", "task", "title", "summary"} {
		var text string
		if json.Unmarshal(said[name], &text) == nil && text != "" {
			return text
		}
	}
	return ""
}

// Says is what the message says to a person: its text, where it holds nothing else or is the router's own mail, whose other
// fields are for programs.
func (m Message) Says() string {
	var fields map[string]json.RawMessage
	if text := m.Text(); text != "" && (m.From == RouterName || json.Unmarshal(m.Context, &fields) == nil && len(fields) == 1) {
		return text
	}
	return string(m.Context)
}

// SameContent tells whether other says the same to the same recipient. It compares neither
// ids nor times, except the time to live.
func (m Message) SameContent(other Message) bool {
	return m.From == other.From && m.To == other.To && m.Signal == other.Signal && bytes.Equal(m.Context, other.Context) &&
		m.Priority == other.Priority && m.ThreadID == other.ThreadID && m.AckRequired == other.AckRequired && m.Each == other.Each && m.ttl() == other.ttl()
}

func (m Message) ttl() time.Duration {
	if m.ExpiresAt == nil {
		return 0
	}
	return m.ExpiresAt.Sub(m.CreatedAt)
}

// LogQuery selects messages of the whole log, the latest first; empty fields select everything.
type LogQuery struct {
	Before int64  // only smaller seqs; 0: from the newest
	Agent  string // sent by or to this agent, or to every agent
	Kind   bool   // by or to its sessions too: what a token of the agent may read
	Thread string
	Signal string
	Limit  int // most messages; in a caller's, 1 to comms.MaxLimit, 0 means comms.DefaultLimit
	Reach  int // how many seqs are looked through at most, which the mailbox sets: no index has every field
}
