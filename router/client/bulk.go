package client

import (
	"context"
	"encoding/json"
	"io"
	"iter"
	"net/http"

	"skillrouter/learning"
	"skillrouter/learning/knowledge"
)

// Knowledge is the bulk call of knowledge.
type Knowledge struct{ c *Client }

// Import stores many entries in one call, streamed: no more than one draft is
// held at a time, and the router stores while it reads. sent, which may be
// nil, is called from another goroutine after each draft that was handed to
// the connection, with how many there have been. The Refused of the answer
// are numbered by the drafts' order, from 0. After an error, what was stored
// remains; the same import again stores only what is missing.
func (k Knowledge) Import(ctx context.Context, drafts iter.Seq[knowledge.Draft], sent func(n int)) (learning.BulkResult, error) {
	reader, writer := io.Pipe()
	r, err := k.c.request(ctx, http.MethodPost, at("/api/knowledge/bulk"), reader, "application/x-ndjson")
	if err != nil {
		return learning.BulkResult{}, err
	}
	// The transport waits for its reading of the body to end before it gives up.
	stop := context.AfterFunc(ctx, func() { writer.CloseWithError(ctx.Err()) })
	defer stop()
	done := make(chan struct{})
	go func() {
		defer close(done)
		writer.CloseWithError(write(writer, drafts, sent))
	}()
	var result learning.BulkResult
	err = k.c.answer(r, &result)
	// The reader's end makes a writer that still waits for it give up. One that
	// waits for its next draft is not waited for once the caller has given up.
	reader.Close()
	select {
	case <-done:
	case <-ctx.Done():
	}
	return result, err
}

// write sends drafts as one JSON line each, and stops at the first that cannot be sent.
func write(w io.Writer, drafts iter.Seq[knowledge.Draft], sent func(n int)) error {
	encoder := json.NewEncoder(w)
	n := 0
	for draft := range drafts {
		if err := encoder.Encode(draft); err != nil {
			return err
		}
		if n++; sent != nil {
			sent(n)
		}
	}
	return nil
}
