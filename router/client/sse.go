package client

import (
	"bufio"
	"bytes"
	"io"
	"strconv"
	"strings"
	"time"
)

// MaxEvent bounds one event of a stream, and so one line of it, in bytes: a
// message's largest context with JSON's escapes, and room for the rest.
const MaxEvent = 1 << 20

// event is one event of a stream, as
// https://html.spec.whatwg.org/multipage/server-sent-events.html has it.
type event struct {
	id   string // the last id that the stream has named, by this event or an earlier one
	name string
	data string
}

// events reads the events of one connection.
type events struct {
	lines *bufio.Scanner
	first bool
	id    string
	// retry is how long the server wants clients to wait before they come back; zero if it said nothing.
	retry time.Duration
}

func newEvents(r io.Reader) *events {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 4<<10), MaxEvent)
	lines.Split(splitLines())
	return &events{lines: lines, first: true}
}

// next returns the next event that has data. It returns io.EOF at the end of
// the stream, where an unfinished event is dropped, and bufio.ErrTooLong for
// one that is over MaxEvent.
func (e *events) next() (event, error) {
	var ev event
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
				ev.id, ev.data = e.id, strings.TrimSuffix(data.String(), "\n")
				return ev, nil
			}
			ev = event{}
			continue
		}
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch field {
		case "event":
			ev.name = value
		case "data":
			some = true
			data.WriteString(value)
			data.WriteByte('\n')
			if data.Len() > MaxEvent {
				return event{}, bufio.ErrTooLong
			}
		case "id":
			if !strings.ContainsRune(value, 0) {
				e.id = value
			}
		case "retry":
			if ms, err := strconv.ParseUint(value, 10, 31); err == nil && !strings.HasPrefix(value, "+") {
				e.retry = time.Duration(ms) * time.Millisecond
			}
		}
	}
	if err := e.lines.Err(); err != nil {
		return event{}, err
	}
	return event{}, io.EOF
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
