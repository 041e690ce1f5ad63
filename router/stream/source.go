package stream

import (
	"context"

	"skillrouter/comms"
)

// source is the log behind a stream, as its client reads it. Its methods but
// delivered are for one goroutine at a time.
type source interface {
	// take returns the next entries in order without waiting; none means that there are
	// no more until ready is signalled.
	take(ctx context.Context) ([]entry, error)
	// ready is signalled when take may have something.
	ready() <-chan struct{}
	// delivered notes that entries were written to the client.
	delivered(entries []entry)
	close()
}

// entry is one event of a stream. One without an id stands for a keep-alive.
type entry struct {
	id   int64
	name string
	body []byte      // JSON, shared with other readers
	post *comms.Post // the message, of a stream of messages
}

// letters is an agent's messages as a source.
type letters struct{ *comms.Subscription }

func (l letters) take(ctx context.Context) ([]entry, error) {
	posts, err := l.Take(ctx)
	entries := make([]entry, len(posts))
	for i, p := range posts {
		entries[i] = entry{id: p.Message.Seq, name: p.Message.Signal, body: p.Body, post: p}
	}
	return entries, err
}

func (l letters) ready() <-chan struct{} { return l.Ready() }

func (l letters) delivered(entries []entry) {
	posts := make([]*comms.Post, len(entries))
	for i, e := range entries {
		posts[i] = e.post
	}
	l.Delivered(posts)
}

func (l letters) close() { l.Close() }
