package router

import (
	"context"

	"skillrouter"
)

// FeedService is the one stream of what happened in both databases and in the
// mailboxes: every event has a number of its own, in the order in which the
// feed took it up, which never changes afterwards.
type FeedService interface {
	// Feed returns the events after a number that the caller may see and asked for, in order.
	Feed(ctx context.Context, query FeedQuery) (FeedPage, error)
	// FeedBell rings when there is more.
	FeedBell() *skillrouter.Bell
}

// FeedQuery says which events are asked for.
type FeedQuery struct {
	After   int64    // the number of the last event that the caller has
	Types   []string // such as "task.claimed", "task.*"; empty: all
	Agent   string   // whom it is about; empty: all
	Project string   // empty: all
	Limit   int      // 0: the default
}

// FeedEvent is an event with its place in the feed.
type FeedEvent struct {
	skillrouter.Event        // Seq is the feed's own number
	Source            string `json:"source"` // the log that it is from: learning, operational or messages
}

// FeedPage is what Feed found.
type FeedPage struct {
	Events []FeedEvent `json:"events"`
	// Seen is the number up to which was looked, whether it passed the query or not: what to ask after next.
	Seen int64 `json:"seen"`
	More bool  `json:"more"` // there may be more at once
}
