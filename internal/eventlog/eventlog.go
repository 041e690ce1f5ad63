// Package eventlog has the event: one thing that happened and was committed, as both databases keep it.
package eventlog

import (
	"encoding/json"
	"time"
)

// Event is one thing that happened and was committed. Seq numbers the events of one database
// in the order of their commits, and no number is used twice.
type Event struct {
	Seq     int64           `json:"seq"`
	Type    string          `json:"type"`    // such as "agent.state", "task.claimed", "knowledge.stored"
	Subject string          `json:"subject"` // the id of what it happened to
	Agent   string          `json:"agent_id,omitempty"`
	Project string          `json:"project,omitempty"`
	At      time.Time       `json:"at"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// With is the event with its data. Events tell texts, times and finite numbers, which JSON can always say.
func (e Event) With(data any) Event {
	e.Data, _ = json.Marshal(data)
	return e
}

// Query selects events of one database, the newest first; empty fields select everything.
type Query struct {
	After   int64    // only greater seqs
	Before  int64    // only smaller seqs; 0: from the newest
	Types   []string // exactly, or "task." for all that begin so
	Agent   string
	Project string
	Limit   int
	Reach   int // how many seqs are looked through at most: no index has every field
}
