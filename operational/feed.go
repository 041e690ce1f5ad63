package operational

// FeedSource is one of the logs that the feed gathers.
type FeedSource string

// The logs, in the order in which the feed takes them up.
const (
	FeedLearning    FeedSource = "learning"    // the events of learning.db
	FeedOperational FeedSource = "operational" // the events of operational.db
	FeedMessages    FeedSource = "messages"    // the messages, without their contexts
	FeedLost        FeedSource = ""            // a log that was replaced by an older copy of itself
)

// FeedRun maps consecutive numbers of the feed to rows of a log: number n is row Start + (n
// − First), if there is such a row.
type FeedRun struct {
	First  int64 // at least 1
	Count  int64 // at least 1
	Source FeedSource
	Start  int64
}

// Last is the run's last number.
func (r FeedRun) Last() int64 { return r.First + r.Count - 1 }

// End is the seq of the log's row that the run's last number stands for.
func (r FeedRun) End() int64 { return r.Start + r.Count - 1 }

// EventMessageSent is the type of a message in the feed. Its Data is a MessageEvent.
const EventMessageSent = "message.sent"

// MessageEvent is what the feed tells of a message: never its context.
type MessageEvent struct {
	ID       string `json:"message_id"`
	Seq      int64  `json:"seq"` // in the message log
	From     string `json:"from_agent_id"`
	To       string `json:"to_agent_id,omitempty"` // empty: to every agent
	Signal   string `json:"signal"`
	Priority int    `json:"priority"`
	ThreadID string `json:"thread_id,omitempty"`
}
