package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"skillrouter/router"
)

// Feed is the router's feed of events.
type Feed struct{ c *Client }

// Feed returns a page of it, as router.FeedService does.
func (f Feed) Feed(ctx context.Context, query router.FeedQuery) (router.FeedPage, error) {
	asked := feedValues(query)
	if query.After != 0 {
		asked.Set("after", strconv.FormatInt(query.After, 10))
	}
	if query.Limit != 0 {
		asked.Set("limit", strconv.Itoa(query.Limit))
	}
	return call[router.FeedPage](ctx, f.c, http.MethodGet, "/api/events", asked, nil)
}

// feedValues is what a query asks for, without where and how much.
func feedValues(query router.FeedQuery) url.Values {
	asked := url.Values{}
	for name, value := range map[string]string{"type": strings.Join(query.Types, ","), "agent": query.Agent, "project": query.Project} {
		if value != "" {
			asked.Set(name, value)
		}
	}
	return asked
}

// FeedFollower says what of the feed to follow, and who wants to know how it goes.
type FeedFollower struct {
	Query router.FeedQuery // After: router.FeedNow for what happens from now on; Limit does not count
	Up    func()
	Down  func(err error, wait time.Duration)
}

// Follow hands fn each event that is asked for, once each and in order, until
// ctx ends (it then returns nil) or fn fails (it then returns fn's error); see
// Mailbox.Follow. "From now on" is settled before it first connects, so that a
// connection that breaks early loses nothing.
func (f Feed) Follow(ctx context.Context, follower FeedFollower, fn func(router.FeedEvent) error) error {
	s := stream{c: f.c, path: "/events", query: feedValues(follower.Query), last: follower.Query.After, up: follower.Up, down: follower.Down}
	if s.last == router.FeedNow {
		query := follower.Query
		query.Limit = 1
		page, err := f.Feed(ctx, query)
		if err != nil {
			return err
		}
		s.last = page.Seen
	}
	return s.follow(ctx, func(seq int64, data []byte) error {
		var event router.FeedEvent
		if err := json.Unmarshal(data, &event); err != nil || event.Seq != seq {
			return notOurs(seq, err)
		}
		return fn(event)
	})
}
