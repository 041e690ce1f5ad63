package client

import (
	"context"
	"encoding/json"
	"time"

	"github.com/skillrouter/skillrouter/router/feed"
)

// Feed follows the router's feed of events.
type Feed struct{ c *Client }

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
		page, err := Send(ctx, f.c, feed.Service.Feed, query)
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
