package stream

import (
	"net/http"
	"strconv"

	"github.com/skillrouter/skillrouter/comms"
	"github.com/skillrouter/skillrouter/internal/errs"
)

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
