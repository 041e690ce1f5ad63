// Package sse reads server-sent events, as
// https://html.spec.whatwg.org/multipage/server-sent-events.html has them. It owns
// how a stream is cut into events; what they hold is their readers' matter, and
// nothing here knows where a stream comes from.
package sse

import (
	"bufio"
	"bytes"
	"io"
	"strconv"
	"strings"
	"time"
)

// Event is one event of a stream.
type Event struct {
	ID   string // the last id that the stream has named, by this event or an earlier one
	Name string
	Data string
}

// Reader reads the events of one connection.
type Reader struct {
	// Retry is how long the server wants clients to wait before they come back; zero if it said nothing.
	Retry time.Duration

	lines *bufio.Scanner
	limit int
	first bool
	id    string
}

// NewReader reads events of at most limit bytes, and so lines of at most as many.
func NewReader(r io.Reader, limit int) *Reader {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 4<<10), limit)
	lines.Split(splitLines())
	return &Reader{lines: lines, limit: limit, first: true}
}

// Next returns the next event that has data. It returns io.EOF at the end of
// the stream, where an unfinished event is dropped, and bufio.ErrTooLong for
// one that is over the limit.
func (e *Reader) Next() (Event, error) {
	var ev Event
	var data strings.Builder
	some := false
	for e.lines.Scan() {
		line := e.lines.Text()
		if e.first {
			e.first = false
			line = strings.TrimPrefix(line, "\ufeff")
		}
		if line == "" {
			if some {
				ev.ID, ev.Data = e.id, strings.TrimSuffix(data.String(), "\n")
				return ev, nil
			}
			ev = Event{}
			continue
		}
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch field {
		case "event":
			ev.Name = value
		case "data":
			some = true
			data.WriteString(value)
			data.WriteByte('\n')
			if data.Len() > e.limit {
				return Event{}, bufio.ErrTooLong
			}
		case "id":
			if !strings.ContainsRune(value, 0) {
				e.id = value
			}
		case "retry":
			if ms, err := strconv.ParseUint(value, 10, 31); err == nil && !strings.HasPrefix(value, "+") {
				e.Retry = time.Duration(ms) * time.Millisecond
			}
		}
	}
	if err := e.lines.Err(); err != nil {
		return Event{}, err
	}
	return Event{}, io.EOF
}

// splitLines returns a bufio.SplitFunc for lines that end in \n, \r\n or \r. A
// \r ends its line at once, without waiting for what follows it.
func splitLines() bufio.SplitFunc {
	afterCR := false
	return func(data []byte, atEOF bool) (int, []byte, error) {
		skip := 0
		if afterCR && len(data) > 0 {
			afterCR = false
			if data[0] == '\n' {
				skip = 1
			}
		}
		i := bytes.IndexAny(data[skip:], "\r\n")
		if i < 0 {
			if atEOF {
				// A line that nothing ends is not part of the stream.
				return len(data), nil, nil
			}
			return skip, nil, nil
		}
		afterCR = data[skip+i] == '\r'
		return skip + i + 1, data[skip : skip+i], nil
	}
}
