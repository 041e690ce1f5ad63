package stream

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"github.com/skillrouter/skillrouter/internal/clock"
	"github.com/skillrouter/skillrouter/internal/committer"
	"github.com/skillrouter/skillrouter/router/feed"
)

// writer stands between the library and the client's connection. The library
// writes each event in pieces, flushes after each event, and looks at no
// error; this gathers an event into one write, gives each write a
// deadline, and ends the connection when one fails.
type writer struct {
	http.ResponseWriter
	connection *connection
	control    *http.ResponseController

	greeted bool
	broken  bool
	buffer  []byte

	mu sync.Mutex // orders the deadlines of send and of cut
}

// Write implements io.Writer. It gathers; send writes.
func (w *writer) Write(p []byte) (int, error) {
	if w.broken {
		return len(p), nil // the library would not look at an error; the connection is ending
	}
	w.buffer = append(w.buffer, p...)
	return len(p), nil
}

// Flush implements http.Flusher. The library calls it once when its stream
// opens, when the client is told that it is connected, and then after each event.
func (w *writer) Flush() {
	if !w.greeted {
		w.greeted = true
		w.buffer = fmt.Appendf(w.buffer, "retry: %d\n: connected\n\n", retryFirst.Milliseconds())
		w.send()
		return
	}
	if w.send(); !w.broken {
		committer.Nudge(w.connection.sent)
	}
}

// send writes what is gathered.
func (w *writer) send() {
	buffer := w.buffer
	w.buffer = nil // an idle stream keeps none
	if w.broken || len(buffer) == 0 {
		return
	}
	w.deadline(WriteTimeout)
	_, err := w.ResponseWriter.Write(buffer)
	if err == nil {
		err = flush(w.ResponseWriter)
	}
	if err != nil {
		w.broken = true
		w.connection.cancel()
		return
	}
	_ = w.control.SetWriteDeadline(time.Time{}) // over HTTP/2 one that passes ends the stream, whether or not anything is written
}

// flush flushes by the writer that tells its error, below wrappers that drop it.
func flush(w http.ResponseWriter) error {
	for {
		wrapper, wraps := w.(interface{ Unwrap() http.ResponseWriter })
		if !wraps {
			return http.NewResponseController(w).Flush()
		}
		w = wrapper.Unwrap()
	}
}

// deadline limits the next write, and one under way. A writer that knows no deadlines (in a
// test) goes without.
func (w *writer) deadline(limit time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.connection.ending.Load() {
		limit = min(limit, farewellTimeout)
	}
	_ = w.control.SetWriteDeadline(time.Now().Add(limit))
}

// farewell tells the client when to come back, if it still listens.
func (w *writer) farewell() {
	again := retryFirst + rand.N(retrySpread)
	w.buffer = fmt.Appendf(w.buffer[:0], "retry: %d\n: the router is stopping, come back\n\n", again.Milliseconds())
	w.send()
}

// MaxFrame bounds what a client of the feed may send at once, in bytes: it has
// nothing to say but a ping.
const MaxFrame = 4 << 10

// Frame is what a WebSocket of the feed bears, in both directions. Its first
// three members are those of the experience server.
type Frame struct {
	Type      string          `json:"type"`
	Data      json.RawMessage `json:"data"`
	Timestamp int64           `json:"timestamp"` // Unix milliseconds
	Seq       int64           `json:"seq,omitempty"`
	Kind      string          `json:"kind,omitempty"`
	Source    string          `json:"source,omitempty"`
	Subject   string          `json:"subject,omitempty"`
	Agent     string          `json:"agent_id,omitempty"`
	Project   string          `json:"project,omitempty"`
}

// The types of frames that are no events.
const (
	framePing  = "ping"
	framePong  = "pong"
	frameError = "error"
)

// encodeFrame writes an event as a frame's text, which is the same for every client.
func encodeFrame(event feed.Event) []byte {
	return textFrame(Frame{
		Type: event.Type, Data: event.Data, Timestamp: event.At.UnixMilli(), Seq: event.Seq, Kind: event.Kind, Source: event.Source,
		Subject: event.Subject, Agent: event.Agent, Project: event.Project,
	})
}

func textFrame(frame Frame) []byte {
	if len(frame.Data) == 0 {
		frame.Data = json.RawMessage("{}")
	}
	// Marshalling strings, whole numbers and JSON that was stored or made here cannot fail.
	text, _ := json.Marshal(frame)
	return text
}

// answerFrame is what a client is answered to what it sent.
func answerFrame(text []byte, now clock.Clock) []byte {
	at := now().UnixMilli()
	answer := Frame{Type: framePong, Timestamp: at}
	var said Frame
	switch err := json.Unmarshal(text, &said); {
	case err != nil:
		answer.Type = frameError
		answer.Data, _ = json.Marshal(map[string]string{"error": "a frame must be a JSON object with type and data"})
	case said.Type != framePing:
		answer.Type = frameError
		answer.Data, _ = json.Marshal(map[string]string{"error": "the only frame that a client can send is a ping; what it follows is said in the address"})
	default:
		answer.Data, _ = json.Marshal(map[string]int64{"timestamp": at})
	}
	return textFrame(answer)
}
