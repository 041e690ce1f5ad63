package stream

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"
)

// writer stands between the library and the client's connection. The library
// writes each event in pieces, flushes after each event, and looks at no
// error; this gathers what is ready into one write, gives each write a
// deadline, and ends the connection when one fails.
type writer struct {
	http.ResponseWriter
	connection *connection
	control    *http.ResponseController
	flush      func() error

	// shared means that the connection bears other calls too (HTTP/2). A deadline that passes ends the stream then, whether or not
	// anything is being written.
	shared   bool
	starting bool // a stream of the library begins: it says again what was said
	broken   bool
	unsent   http.Header // what it says then
	buffer   []byte
	entries  []entry // those in the buffer

	mu sync.Mutex // orders the deadlines of send and hurry
}

func newWriter(w http.ResponseWriter, c *connection) *writer {
	return &writer{ResponseWriter: w, connection: c, control: http.NewResponseController(w), flush: flusher(w)}
}

// flusher finds the flush that tells its error, below wrappers that drop it.
func flusher(w http.ResponseWriter) func() error {
	if t, tells := bottom(w).(interface{ FlushError() error }); tells {
		return t.FlushError
	}
	return http.NewResponseController(w).Flush
}

// bottom is the writer below all wrappers.
func bottom(w http.ResponseWriter) http.ResponseWriter {
	for {
		wrapper, ok := w.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			return w
		}
		w = wrapper.Unwrap()
	}
}

// begin sends the header, through every wrapper, so that each knows that the answer has begun.
func (w *writer) begin() {
	header := w.ResponseWriter.Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("Cache-Control", "no-cache")
	header.Set("Connection", "keep-alive")
	header.Set("X-Accel-Buffering", "no") // nginx would hold events back
	w.ResponseWriter.WriteHeader(http.StatusOK)
	_ = w.control.Flush() // send sees the error
}

// over has everything further written to the connection itself.
func (w *writer) over(conn *held) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ResponseWriter, w.control, w.flush = conn, http.NewResponseController(conn), conn.FlushError
}

// greet tells the client that it is connected.
func (w *writer) greet() {
	w.buffer = fmt.Appendf(w.buffer, "retry: %d\n: connected\n\n", retryFirst.Milliseconds())
	w.send()
	w.giveBack()
}

// giveBack lets go of what was gathered in.
func (w *writer) giveBack() {
	w.buffer, w.entries, w.unsent = nil, nil, nil
	if conn, ok := w.ResponseWriter.(*held); ok {
		conn.chunk = nil
	}
}

// Header implements http.ResponseWriter; the header was sent by begin.
func (w *writer) Header() http.Header {
	if w.unsent == nil {
		w.unsent = http.Header{}
	}
	return w.unsent
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
// opens and then after each event.
func (w *writer) Flush() {
	if w.starting {
		w.starting = false
		return
	}
	e, more := w.connection.written()
	if e.post != nil {
		w.entries = append(w.entries, e)
	}
	if !more || len(w.buffer) >= flushBytes {
		w.send()
	}
}

// WriteHeader implements http.ResponseWriter; the header was sent by begin.
func (w *writer) WriteHeader(int) {}

// send writes what is gathered.
func (w *writer) send() {
	buffer, entries := w.buffer, w.entries
	w.buffer, w.entries = w.buffer[:0], w.entries[:0]
	if w.broken || len(buffer) == 0 {
		return
	}
	w.deadline(WriteTimeout)
	_, err := w.ResponseWriter.Write(buffer)
	if err == nil {
		err = w.flush()
	}
	if err != nil {
		w.broken = true
		w.connection.cancel()
		return
	}
	if w.shared {
		_ = w.control.SetWriteDeadline(time.Time{})
	}
	w.connection.source.delivered(entries)
	if cap(buffer) > 2*flushBytes {
		w.buffer = nil // one large event shall not stay in memory
	}
}

// deadline limits the next write. A writer that knows no deadlines (in a
// test) goes without.
func (w *writer) deadline(limit time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.connection.ending.Load() {
		limit = min(limit, farewellTimeout)
	}
	_ = w.control.SetWriteDeadline(time.Now().Add(limit))
}

// hurry shortens the deadline of a write under way.
func (w *writer) hurry() { w.deadline(farewellTimeout) }

// farewell tells the client when to come back, if it still listens.
func (w *writer) farewell() {
	again := retryFirst + rand.N(retrySpread)
	w.buffer = fmt.Appendf(w.buffer[:0], "retry: %d\n: the router is stopping, come back\n\n", again.Milliseconds())
	w.entries = nil
	w.send()
}
