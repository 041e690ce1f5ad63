package stream

import (
	"net/http/httptest"
	"testing"
)

// TestIdleGivesBack holds that a keep-alive gives back what was gathered in, and never what is still to be sent.
func TestIdleGivesBack(t *testing.T) {
	answer := httptest.NewRecorder()
	c := &connection{room: make(chan struct{}, 1), source: silentSource{}}
	c.out = newWriter(answer, c)
	write := func(texts ...string) {
		entries := make([]entry, len(texts))
		for i, text := range texts {
			if text != "" {
				entries[i] = entry{id: 1, name: "e", body: []byte(text)}
			}
		}
		c.admit(entries)
		for _, text := range texts {
			if _, err := c.out.Write([]byte("(" + text + ")")); err != nil {
				t.Fatal(err)
			}
			c.out.Flush()
		}
	}
	c.out.Flush() // the stream opens
	answer.Body.Reset()
	write("a", "", "b")
	if got := answer.Body.String(); got != "(a)()(b)" {
		t.Errorf("sent %q", got)
	}
	if c.out.buffer == nil {
		t.Error("a stream that is not idle gave its buffer back")
	}
	write("")
	if c.out.buffer != nil || c.pipeline != nil || answer.Body.String() != "(a)()(b)()" {
		t.Errorf("buffer %d, pipeline %d, sent %q", cap(c.out.buffer), cap(c.pipeline), answer.Body.String())
	}
}

type silentSource struct{ source }

func (silentSource) delivered([]entry) {}
