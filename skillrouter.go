// Package skillrouter holds what every other package uses: Error with its code, Event, Principal (who
// makes a call), the clock, the checks of ids and texts, the removal of secrets, and Committer, which
// joins waiting writes into one transaction. It imports the standard library and package wordlist
// only. It knows no store, no transport and no domain.
package skillrouter

import (
	"encoding/json"
	"log/slog"
	"strconv"
	"time"
)

// Clock tells the time. Tests use one that they can set. Times decide no order: sequence
// numbers do.
type Clock func() time.Time

// Stamp returns the time as it is stored: in UTC and whole milliseconds.
func (c Clock) Stamp() time.Time { return c().UTC().Truncate(time.Millisecond) }

// Given returns the clock, or the machine's own in place of nil.
func (c Clock) Given() Clock {
	if c == nil {
		return time.Now
	}
	return c
}

// GivenLog returns a log, or one that discards in place of nil.
func GivenLog(log *slog.Logger) *slog.Logger {
	if log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return log
}

// GivenList returns a list, or an empty one in place of nil: what is answered as JSON says [] and not null.
func GivenList[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// Counted says how many there are, in words that fit the number: "1 task" and "3 tasks".
func Counted(n int, one, many string) string {
	if n == 1 {
		many = one
	}
	return strconv.Itoa(n) + " " + many
}

// Texts are named values as texts.
func Texts[Name ~string](names []Name) (texts []string) {
	for _, name := range names {
		texts = append(texts, string(name))
	}
	return texts
}

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

// EventQuery selects events of one database, the newest first; empty fields select everything.
type EventQuery struct {
	After   int64    // only greater seqs
	Before  int64    // only smaller seqs; 0: from the newest
	Types   []string // exactly, or "task." for all that begin so
	Agent   string
	Project string
	Limit   int
	Reach   int // how many seqs are looked through at most: no index has every field
}
