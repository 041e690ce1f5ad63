package llm

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// errLongPiece is a line of a stream that is longer than MaxPiece.
var errLongPiece = errors.New("a line of the stream is too long")

// events reads the data of server-sent events, as
// https://html.spec.whatwg.org/multipage/server-sent-events.html has them: names, ids,
// comments and retry times, of which these streams make no use, are passed over.
type events struct {
	lines *bufio.Scanner
	data  []byte
}

func newEvents(r io.Reader) *events {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 4<<10), MaxPiece)
	lines.Split(splitLines())
	return &events{lines: lines}
}

// next returns the data of the next event; it is valid until the call after. At the
// end of the stream it returns io.EOF; an event that is not complete then is dropped.
func (e *events) next() ([]byte, error) {
	e.data = e.data[:0]
	there := false
	for e.lines.Scan() {
		line := e.lines.Bytes()
		if len(line) == 0 {
			if there {
				return e.data, nil
			}
			continue
		}
		value, ok := bytes.CutPrefix(line, []byte("data:"))
		if !ok {
			continue
		}
		if there {
			e.data = append(e.data, '\n')
		}
		there = true
		e.data = append(e.data, bytes.TrimPrefix(value, []byte(" "))...)
		if len(e.data) > MaxPiece {
			return nil, errLongPiece
		}
	}
	err := e.lines.Err()
	switch {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, errLongPiece
	case err != nil:
		return nil, err
	}
	return nil, io.EOF
}

// splitLines splits at LF, CR and CR LF. A CR at the end of what has come ends its
// line at once: whoever streams does not wait for the next byte. The LF that may
// follow is then no line of its own.
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
		rest := data[skip:]
		if i := bytes.IndexAny(rest, "\r\n"); i >= 0 {
			end := i + 1
			if rest[i] == '\r' {
				if end < len(rest) {
					if rest[end] == '\n' {
						end++
					}
				} else {
					afterCR = true
				}
			}
			return skip + end, rest[:i:i], nil
		}
		if atEOF && len(rest) > 0 {
			return len(data), rest, nil
		}
		return skip, nil, nil
	}
}
