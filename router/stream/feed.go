package stream

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/url"
	"strings"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/router/feed"
)

// Bounds of the clients that follow the feed, over each transport.
const (
	// MaxFollowers bounds them all: with a connection each takes about 70 KB.
	MaxFollowers = 4096
	// MaxFollowersPerAgent is for one agent's token, as comms.MaxStreamsPerAgent is
	// for its mailbox: an agent needs one, and reconnects whose predecessors are not yet known to be gone.
	MaxFollowersPerAgent = 16
	// MaxFollowersPerSource is for one address, of those that are no agents. A
	// proxy, or a machine with all of a team's tools, is one address and may have a
	// thousand clients; half of the places stay free for others, whatever it does.
	MaxFollowersPerSource = MaxFollowers / 2
)

// NewFeed makes a Hub that serves the feed. fail answers a request that cannot be served.
func NewFeed(feed *feed.Feed, fail func(w http.ResponseWriter, r *http.Request, err error), log *slog.Logger) *Hub {
	return newHub(&Hub{door: followers(feed, asEvents, fail, log)})
}

// followers is a door to the feed, whose items have one form there.
func followers(of *feed.Feed, form encoding, fail func(w http.ResponseWriter, r *http.Request, err error), log *slog.Logger) door {
	return door{caller: callerOf, most: MaxFollowers, fail: fail, log: log, open: func(r *http.Request) (source, error) {
		query, err := feedQueryOf(r)
		if err != nil {
			return nil, err
		}
		reader, err := of.Follow(r.Context(), query)
		return following{reader, form}, err
	}}
}

// feedQueryOf reads what a client asks of the feed. Without a place to begin
// at it gets what happens from now on. The header counts before the query, as
// with messages: see cursorOf.
func feedQueryOf(r *http.Request) (feed.Query, error) {
	query := feed.Query{After: feed.Now}
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return query, errs.Errorf(errs.Invalid, "the query of the address cannot be read")
	}
	if values.Has("after") && values.Has("last_event_id") {
		return query, errs.InvalidField("last_event_id", "says the same as after: give one of them")
	}
	for name, given := range values {
		if name != "type" && len(given) > 1 {
			return query, errs.InvalidField(name, "is given more than once")
		}
		switch name {
		case "type":
			for _, list := range given {
				query.Types = append(query.Types, strings.Split(list, ",")...)
			}
		case "agent":
			query.Agent = given[0]
		case "project":
			query.Project = given[0]
		case "after", "last_event_id":
			if query.After, err = ParseEventID(name, given[0]); err != nil {
				return query, err
			}
		case "stream": // which clients of the library r3labs/sse always send
		default:
			return query, errs.InvalidField(name, "is no parameter of the feed: there are after, last_event_id, type, agent and project")
		}
	}
	if text := r.Header.Get("Last-Event-ID"); text != "" {
		query.After, err = ParseEventID("Last-Event-ID", text)
	}
	return query, err
}

// following is a reader of the feed as a source.
type following struct {
	*feed.Reader
	encoding
}

// encoding is how a transport writes an event.
type encoding struct {
	form   feed.Form
	encode func(event feed.Event) []byte
}

var asEvents, asFrames = encoding{feed.ServerSent, encodeEvent}, encoding{feed.Frame, encodeFrame}

func (f following) take(ctx context.Context) ([]entry, error) {
	items, err := f.Take(ctx)
	entries := make([]entry, len(items))
	for i, item := range items {
		entries[i] = entry{id: item.Seq, name: item.Type, body: item.As(f.form, f.encode)}
	}
	return entries, err
}

func (f following) delivered([]entry) {}

// encodeEvent writes an event as the data of a server-sent event.
func encodeEvent(event feed.Event) []byte {
	// Marshalling strings, whole numbers, times of this era and JSON that was stored cannot fail.
	text, _ := json.Marshal(event)
	return text
}
