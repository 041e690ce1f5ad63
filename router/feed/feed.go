// Package feed is the one stream of what happened in both databases and in the mailboxes. It gives each event a number
// that never changes, keeps the numbers in a journal, and answers readers from a tail in memory or from the logs. It
// changes nothing in the domains.
package feed

import (
	"context"
	"math"

	"github.com/skillrouter/skillrouter/internal/committer"
	"github.com/skillrouter/skillrouter/internal/eventlog"
)

// Service is the one stream of what happened in both databases and in the
// mailboxes: every event has a number of its own, in the order in which the
// feed took it up, which never changes afterwards.
type Service interface {
	// Feed returns the events after a number that the caller may see and asked for, in order.
	Feed(ctx context.Context, query Query) (Page, error)
	// FeedBell rings when there is more.
	FeedBell() *committer.Bell
}

// Now is what Query.After is for somebody who wants what happens from
// now on: nothing lies beyond it, and the page's Seen is the end of the feed.
const Now = math.MaxInt64

// Query says which events are asked for.
type Query struct {
	// After is the number of the last event that the caller has. One beyond the end, as
	// from another data folder, is taken for the end.
	After   int64    `query:"after" minimum:"0" doc:"Only events of a greater seq; a page's seen is what to ask after next; 0: from the beginning; one beyond the end: nothing but where the feed ends"`
	Types   []string `query:"type" doc:"Only of these types, or groups such as task.*, separated by commas"` // such as "task.claimed", "task.*"; by either name of an event that has two; empty: all
	Agent   string   `query:"agent" doc:"Only what this agent did, what happened to it, and messages to it"`
	Project string   `query:"project" doc:"Only of this project"`            // empty: all
	Limit   int      `query:"limit" minimum:"0" maximum:"1000" doc:"0: 100"` // 0: DefaultLimit; at most MaxLimit
}

// Bounds of a Query.
const (
	DefaultLimit = 100
	MaxLimit     = 1000
	// MaxTypes bounds a query's types: as many as there are, and every group of them.
	MaxTypes = 128
)

// Event is an event with its place in the feed.
type Event struct {
	eventlog.Event        // Seq is the feed's own number
	Kind           string `json:"kind,omitempty"` // the type in its log, if Type is the name that the experience server gives it
	Source         string `json:"source"`         // the log that it is from: learning, operational or messages
}

// Page is what Feed found.
type Page struct {
	Events []Event `json:"events"`
	// Seen is the number up to which was looked, whether it passed the query or not: what to ask after next.
	Seen int64 `json:"seen"`
	More bool  `json:"more"` // there may be more at once
}
