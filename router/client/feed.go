package client

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"skillrouter/router/feed"
)

// Feed is the router's feed of events.
type Feed struct{ c *Client }

// Feed returns a page of it, as feed.Service does.
func (f Feed) Feed(ctx context.Context, query feed.Query) (feed.Page, error) {
	return call[feed.Page](ctx, f.c, http.MethodGet, at("/api/events").with(query), nil)
}

// Timeline returns a page of what happened, told for people.
func (f Feed) Timeline(ctx context.Context, query feed.TimelineQuery) (feed.TimelinePage, error) {
	return call[feed.TimelinePage](ctx, f.c, http.MethodGet, at("/api/timeline").with(query), nil)
}

// FeedFollower says what of the feed to follow, and who wants to know how it goes.
type FeedFollower struct {
	Query feed.Query // After: feed.Now for what happens from now on; Limit does not count
	Up    func()
	Down  func(err error, wait time.Duration)
}

// Follow hands fn each event that is asked for, once each and in order, until
// ctx ends (it then returns nil) or fn fails (it then returns fn's error); see
// Mailbox.Follow. "From now on" is settled before it first connects, so that a
// connection that breaks early loses nothing.
func (f Feed) Follow(ctx context.Context, follower FeedFollower, fn func(feed.Event) error) error {
	asked := follower.Query
	asked.After, asked.Limit = 0, 0 // the stream is told by its own header where to begin
	s := stream{c: f.c, from: at("/events").with(asked), last: follower.Query.After, up: follower.Up, down: follower.Down}
	if s.last == feed.Now {
		query := follower.Query
		query.Limit = 1
		page, err := f.Feed(ctx, query)
		if err != nil {
			return err
		}
		s.last = page.Seen
	}
	return s.follow(ctx, func(seq int64, data []byte) error {
		var event feed.Event
		if err := json.Unmarshal(data, &event); err != nil || event.Seq != seq {
			return notOurs(seq, err)
		}
		return fn(event)
	})
}
