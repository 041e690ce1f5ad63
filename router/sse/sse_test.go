package sse_test

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"skillrouter/router/sse"
)

// limit is enough for each stream here that has an end.
const limit = 1 << 20

func all(r io.Reader) (list []sse.Event, retry time.Duration, err error) {
	e := sse.NewReader(r, limit)
	for {
		ev, err := e.Next()
		if err != nil {
			return list, e.Retry, err
		}
		list = append(list, ev)
	}
}

func TestEvents(t *testing.T) {
	tests := []struct {
		name, stream string
		want         []sse.Event
		retry        time.Duration
	}{
		{"one", "id: 1\nevent: stop\ndata: {}\n\n", []sse.Event{{"1", "stop", "{}"}}, 0},
		{"two lines of data", "data: a\ndata: b\n\n", []sse.Event{{"", "", "a\nb"}}, 0},
		{"three lines of data", "data: a\ndata:\ndata:b\n\n", []sse.Event{{"", "", "a\n\nb"}}, 0},
		{"CRLF", "id: 1\r\ndata: a\r\n\r\nid: 2\r\ndata: b\r\n\r\n", []sse.Event{{"1", "", "a"}, {"2", "", "b"}}, 0},
		{"CR", "id: 1\rdata: a\r\rid: 2\rdata: b\r\r", []sse.Event{{"1", "", "a"}, {"2", "", "b"}}, 0},
		{"comments", ": hello\n\n:\n\ndata: a\n: in between\n\n", []sse.Event{{"", "", "a"}}, 0},
		{"no space", "id:1\ndata:a\n\n", []sse.Event{{"1", "", "a"}}, 0},
		{"a second space stays", "data:  a\n\n", []sse.Event{{"", "", " a"}}, 0},
		{"byte order mark", "\ufeffdata: a\n\n", []sse.Event{{"", "", "a"}}, 0},
		{"id stays", "id: 7\ndata: a\n\ndata: b\n\n", []sse.Event{{"7", "", "a"}, {"7", "", "b"}}, 0},
		{"name does not stay", "event: x\ndata: a\n\ndata: b\n\n", []sse.Event{{"", "x", "a"}, {"", "", "b"}}, 0},
		{"name without data", "event: x\n\ndata: b\n\n", []sse.Event{{"", "", "b"}}, 0},
		{"id with NUL", "id: 1\x00\ndata: a\n\n", []sse.Event{{"", "", "a"}}, 0},
		{"retry", "retry: 150\n\n", nil, 150 * time.Millisecond},
		{"retry that is no number", "retry: +5\nretry: 1s\nretry:\n\n", nil, 0},
		{"unfinished", "data: a\n\ndata: b\n", []sse.Event{{"", "", "a"}}, 0},
		{"cut in a line", "data: a\n\ndata: b", []sse.Event{{"", "", "a"}}, 0},
		{"cut in a key", "data: a\n\nda", []sse.Event{{"", "", "a"}}, 0},
		{"unknown fields", "colour: red\nnothing\ndata: a\n\n", []sse.Event{{"", "", "a"}}, 0},
		{"empty data", "data\n\n", []sse.Event{{"", "", ""}}, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for how, r := range map[string]io.Reader{"at once": strings.NewReader(test.stream), "by byte": iotest.OneByteReader(strings.NewReader(test.stream))} {
				got, retry, err := all(r)
				if !errors.Is(err, io.EOF) {
					t.Fatalf("%s: ended with %v", how, err)
				}
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Errorf("%s: (-want +got)\n%s", how, diff)
				}
				if retry != test.retry {
					t.Errorf("%s: retry is %s, want %s", how, retry, test.retry)
				}
			}
		})
	}
}

func TestEventsAreBounded(t *testing.T) {
	for name, stream := range map[string]io.Reader{
		"one endless line":   io.MultiReader(strings.NewReader("data: "), endless("x")),
		"endless data lines": endless("data: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n"),
	} {
		t.Run(name, func(t *testing.T) {
			if _, _, err := all(stream); !errors.Is(err, bufio.ErrTooLong) {
				t.Errorf("ended with %v", err)
			}
		})
	}
}

// endless repeats itself for ever.
type endless string

func (e endless) Read(b []byte) (int, error) {
	n := 0
	for n+len(e) <= len(b) {
		n += copy(b[n:], e)
	}
	if n == 0 {
		n = copy(b, e)
	}
	return n, nil
}

// FuzzEvents checks that the same bytes give the same events however they
// arrive, and that none of them holds a line break it should not.
func FuzzEvents(f *testing.F) {
	f.Add("id: 1\r\nevent: stop\rdata: {}\n\n")
	f.Add(": x\n\nretry: 1\ndata\n\n")
	f.Fuzz(func(t *testing.T, stream string) {
		one, retry1, err1 := all(strings.NewReader(stream))
		two, retry2, err2 := all(iotest.OneByteReader(strings.NewReader(stream)))
		if diff := cmp.Diff(one, two); diff != "" || retry1 != retry2 || !errors.Is(err1, err2) {
			t.Fatalf("differs by how it arrives: %s %s %s %v %v", diff, retry1, retry2, err1, err2)
		}
		for _, ev := range one {
			if strings.ContainsAny(ev.ID+ev.Name, "\r\n") {
				t.Fatalf("line break in %+v", ev)
			}
			if strings.Contains(ev.Data, "\r") {
				t.Fatalf("%q holds a CR", ev.Data)
			}
		}
	})
}
