package stream

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"github.com/skillrouter/skillrouter/comms"
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
