package stream

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestGathersUntilNothingMoreComes holds that what is on its way goes out in one write, that nothing which is still to be sent is
// given back, and that the beginning of a further stream of the library says nothing.
func TestGathersUntilNothingMoreComes(t *testing.T) {
	answer := httptest.NewRecorder()
	c := &connection{room: make(chan struct{}, 1), source: silentSource{}}
	c.out = newWriter(answer, c)
	c.out.begin()
	c.out.greet()
	if answer.Header().Get("Content-Type") != "text/event-stream" || answer.Body.String() != "retry: 1000\n: connected\n\n" {
		t.Errorf("the stream begins with %v, %q", answer.Header(), answer.Body)
	}
	answer.Body.Reset()
	write := func(texts ...string) {
		entries := make([]entry, len(texts))
		for i, text := range texts {
			if text != "" {
				entries[i] = entry{id: 1, name: "e", body: []byte(text)}
			}
		}
		c.admit(entries)
		c.out.starting = true
		c.out.Header().Set("Content-Type", "text/plain")
		c.out.WriteHeader(http.StatusTeapot)
		c.out.Flush()
		for i, text := range texts {
			if _, err := c.out.Write([]byte("(" + text + ")")); err != nil {
				t.Fatal(err)
			}
			if !c.pending() {
				t.Errorf("nothing is pending before %q is flushed", text)
			}
			c.out.Flush()
			if last := i == len(texts)-1; last == c.pending() {
				t.Errorf("after %q of %d pending is %v", text, len(texts), c.pending())
			}
		}
	}
	write("a", "", "b")
	write("c")
	if got := answer.Body.String(); got != "(a)()(b)(c)" {
		t.Errorf("sent %q", got)
	}
	if c.out.giveBack(); c.out.buffer != nil || c.out.unsent != nil {
		t.Error("an idle stream has a buffer")
	}
}

type silentSource struct{ source }

func (silentSource) delivered([]entry) {}
