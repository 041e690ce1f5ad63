package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"github.com/tmaxmax/go-sse"

	"github.com/skillrouter/skillrouter/internal/committer"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/router/feed"
)

// Times and bounds of a follower.
const (
	// firstWait is how long a follower waits before its first attempt to come back.
	firstWait = 250 * time.Millisecond
	// longestWait bounds the doubling: a router that returns is noticed this soon.
	longestWait = 5 * time.Second
	// silence is how long a stream may bear nothing before it counts as dead: three
	// of the comments that the router sends to keep it alive.
	silence = 45 * time.Second
	// MaxEvent bounds one event of a stream, in bytes: a message's largest context with
	// JSON's escapes, and room for the rest.
	MaxEvent = 1 << 20
)

// FromCursor has a stream begin at the first message that the agent has not acknowledged.
const FromCursor int64 = -1

// Follower says what to follow, and who wants to know how it goes.
type Follower struct {
	AgentID string
	// After has the stream begin behind this seq; FromCursor: where the agent's
	// acknowledgements end. 0 begins with the oldest message that is kept.
	After int64
	// Up, if it is not nil, is called when a connection stands.
	Up func()
	// Down, if it is not nil, is called when one broke or could not be made, with
	// why and how long it will be until the next attempt.
	Down func(err error, wait time.Duration)
}

// Mailbox follows an agent's messages.
type Mailbox struct{ c *Client }

// Follow hands fn each message for the agent, once each and in the order of
// their seq, until ctx ends (it then returns nil) or fn fails (it then returns
// fn's error). Connections that break are made again, after a wait that
// doubles and is shaken so that many followers do not return as one. What the
// router refuses for good (Invalid, Unauthenticated, Forbidden, NotFound) is
// returned.
func (m Mailbox) Follow(ctx context.Context, f Follower, fn func(operational.Message) error) error {
	s := stream{c: m.c, from: at("/messages").and("agent_id", f.AgentID), last: f.After, up: f.Up, down: f.Down}
	return s.follow(ctx, func(seq int64, data []byte) error {
		var message operational.Message
		if err := json.Unmarshal(data, &message); err != nil || message.Seq != seq {
			return notOurs(seq, err)
		}
		return fn(message)
	})
}

// follow hands take the data of each event of a stream, until ctx ends, take
// fails, or the router refuses for good.
func (s *stream) follow(ctx context.Context, take func(seq int64, data []byte) error) error {
	for attempt := 0; ; attempt++ {
		stood, err := s.connect(ctx, take)
		if ctx.Err() != nil {
			return nil
		}
		var stop stopped
		switch {
		case errors.As(err, &stop):
			return stop.error
		case permanent(err):
			return err
		case stood:
			attempt = 0
		}
		wait := backOff(attempt)
		if s.down != nil {
			s.down(err, wait)
		}
		if committer.Pause(ctx, wait) != nil {
			return nil
		}
	}
}

// stopped marks an error as take's own, or as one that no new connection mends.
type stopped struct{ error }

// stream is where a follower stands.
type stream struct {
	c    *Client
	from address
	up   func()
	down func(err error, wait time.Duration)
	last int64 // the seq of the last event that was taken; negative: from where the router says
}

// connect follows one connection to its end. It tells whether the router took it.
func (s *stream) connect(ctx context.Context, take func(seq int64, data []byte) error) (stood bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	// The router's first bytes, too, must come in time.
	alive := time.AfterFunc(silence, cancel)
	defer alive.Stop()
	r, err := s.c.request(ctx, http.MethodGet, s.from, nil, "")
	if err != nil {
		return false, err
	}
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("Cache-Control", "no-store")
	if s.last >= 0 {
		r.Header.Set("Last-Event-ID", strconv.FormatInt(s.last, 10))
	}
	response, err := s.c.http.Do(r)
	if err != nil {
		return false, s.c.unreachable(r.Context(), err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return false, s.c.problem(response)
	}
	if s.up != nil {
		s.up()
	}
	for ev, err := range sse.Read(&pulse{r: response.Body, alive: alive}, &sse.ReadConfig{MaxEventSize: MaxEvent}) {
		switch {
		case errors.Is(err, bufio.ErrTooLong):
			return true, stopped{errs.Errorf(errs.TooLarge, "the stream bears an event larger than %d bytes", MaxEvent)}
		case err != nil:
			return true, s.c.unreachable(ctx, err)
		}
		alive.Stop() // take may take its time
		if err := s.hand(ev, take); err != nil {
			return true, stopped{err}
		}
		alive.Reset(silence)
	}
	return true, errs.Errorf(errs.Unavailable, "the router ended the stream")
}

// hand gives an event to take, unless it was given before. Events without a
// seq of their own are the router's, and none of the log.
func (s *stream) hand(ev sse.Event, take func(seq int64, data []byte) error) error {
	seq, err := strconv.ParseInt(ev.LastEventID, 10, 64)
	if err != nil || ev.Data == "" || seq <= s.last {
		return nil
	}
	if err := take(seq, []byte(ev.Data)); err != nil {
		return err
	}
	s.last = seq
	return nil
}

// notOurs is the error of an event that does not hold what its stream bears.
func notOurs(seq int64, err error) error {
	return &errs.Error{Code: errs.Internal, Message: fmt.Sprintf("event %d of the stream is not what it should be", seq), Err: err}
}

// permanent tells whether another attempt would be refused the same.
func permanent(err error) bool {
	switch errs.CodeOf(err) {
	case errs.Invalid, errs.Unauthenticated, errs.Forbidden, errs.NotFound:
		return true
	}
	return false
}

// backOff is the wait before an attempt, counted from 0: firstWait doubled each
// time, at most longestWait, of which up to the half is left to chance.
func backOff(attempt int) time.Duration {
	wait := longestWait
	if attempt < 16 {
		wait = min(firstWait<<attempt, longestWait)
	}
	return wait/2 + rand.N(wait/2+1)
}

// pulse puts a stream's end off each time it bears something.
type pulse struct {
	r     io.Reader
	alive *time.Timer
}

func (p *pulse) Read(b []byte) (int, error) {
	n, err := p.r.Read(b)
	if n > 0 {
		p.alive.Reset(silence)
	}
	return n, err
}

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
