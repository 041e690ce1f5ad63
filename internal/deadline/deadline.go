// Package deadline bounds how long a client may take to accept each piece of an answer, however long the whole of it is.
package deadline

import (
	"net/http"
	"time"
)

// Writer is an answer of which each write and each flush has a deadline of its own, by the connection's own clock. Between
// them there is none: over HTTP/2 one that passes ends the answer, also if nothing is written.
type Writer struct {
	http.ResponseWriter
	control *http.ResponseController
	within  time.Duration
}

// New bounds the writes of an answer, and lifts the deadline that it has.
func New(w http.ResponseWriter, within time.Duration) *Writer {
	bounded := &Writer{w, http.NewResponseController(w), within}
	bounded.lift()
	return bounded
}

// Unwrap lets an http.ResponseController reach the connection.
func (w *Writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Write implements io.Writer.
func (w *Writer) Write(piece []byte) (int, error) {
	w.extend()
	defer w.lift()
	return w.ResponseWriter.Write(piece)
}

// FlushError implements what an http.ResponseController looks for.
func (w *Writer) FlushError() error {
	w.extend()
	defer w.lift()
	return w.control.Flush()
}

// Flush implements http.Flusher.
func (w *Writer) Flush() { _ = w.FlushError() } // the next write finds out

// extend and lift fail only for writers that are no connection, as in tests.
func (w *Writer) extend() { _ = w.control.SetWriteDeadline(time.Now().Add(w.within)) }

func (w *Writer) lift() { _ = w.control.SetWriteDeadline(time.Time{}) }
