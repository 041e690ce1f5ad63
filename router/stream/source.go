package stream

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/skillrouter/skillrouter/comms"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/operational"
)

// source is the log behind a stream, as its client reads it. Its methods but
// delivered are for one goroutine at a time.
type source interface {
	// take returns the next entries in order without waiting; none means that there are
	// no more until Ready is signalled.
	take(ctx context.Context) ([]entry, error)
	// Ready is signalled when take may have something.
	Ready() <-chan struct{}
	// delivered notes that entries were written to the client.
	delivered(entries []entry)
	Close()
}

// entry is one event of a stream. One without an id stands for a keep-alive.
type entry struct {
	id   int64
	name string
	body []byte              // JSON, which others may read too
	sent operational.Message // of a stream of messages
}

// letters is an agent's messages as a source.
type letters struct{ *comms.Subscription }

func (l letters) take(ctx context.Context) ([]entry, error) {
	messages, err := l.Take(ctx)
	entries := make([]entry, len(messages))
	for i, m := range messages {
		body, broken := json.Marshal(m)
		entries[i], err = entry{id: m.Seq, name: m.Signal, body: body, sent: m}, cmp.Or(err, broken)
	}
	return entries, err
}

func (l letters) delivered(entries []entry) {
	messages := make([]operational.Message, len(entries))
	for i, e := range entries {
		messages[i] = e.sent
	}
	l.Delivered(messages)
}

// pump gives a client's entries to put as they come, and calls idle where nothing has come for KeepAlive, until ctx ends or
// one of the two says that the client is gone. Between entries it asks whether the caller may still have them.
func pump(ctx context.Context, from source, log *slog.Logger, put func(entries []entry) bool, idle func() bool) {
	tick := time.NewTicker(KeepAlive)
	defer tick.Stop()
	for {
		entries, err := from.take(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil: // the client comes back and goes on where it was
			log.Error("a stream's log could not be read", "error", err)
			return
		case len(entries) > 0 && (principal.Standing(ctx) != nil || !put(entries)):
			return
		case len(entries) > 0:
			tick.Reset(KeepAlive)
			continue // there may be more behind them
		}
		select {
		case <-ctx.Done():
			return
		case <-from.Ready():
		case <-tick.C:
			if !idle() {
				return
			}
		}
	}
}

// cursorOf returns where a request wants to begin, or nil if it does not say.
// The header counts before the query: a client that reconnects by itself
// repeats the address it was given first, and adds the header.
func cursorOf(r *http.Request) (*comms.Cursor, error) {
	if text := r.Header.Get("Last-Event-ID"); text != "" {
		after, err := ParseEventID("Last-Event-ID", text)
		return &comms.Cursor{After: after}, err
	}
	if text := r.URL.Query().Get("last_event_id"); text != "" {
		after, err := ParseEventID("last_event_id", text)
		return &comms.Cursor{After: after, Chosen: true}, err
	}
	return nil, nil
}

// ParseEventID reads an event's id as a client gives it back: the digits of a
// seq, and nothing else.
func ParseEventID(field, text string) (int64, error) {
	for _, c := range []byte(text) {
		if c < '0' || c > '9' {
			return 0, errs.InvalidField(field, "must be the id of an event: digits")
		}
	}
	seq, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, errs.InvalidField(field, "must be the id of an event, and is too large or empty")
	}
	return seq, nil
}
