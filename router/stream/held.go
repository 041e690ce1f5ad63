package stream

import (
	"net"
	"net/http"
	"strconv"
	"time"
)

// held is a connection of HTTP/1 that was taken over from net/http when its
// stream began: net/http would keep its goroutine, with all that the handlers
// had on its stack, and buffers of 10 KB, for as long as the stream is open.
// It implements http.ResponseWriter for what is left of the answer, the body.
type held struct {
	net.Conn
	chunked bool // as net/http announced; HTTP/1.0 has the end of the connection instead
	talking bool // the client has sent more than its request: net/http does not listen to one either
	chunk   []byte
	written int64
}

// takeOver takes the connection of an answer whose header was sent; nil: it
// cannot be had, because it bears other calls too, or is none.
func takeOver(w http.ResponseWriter, r *http.Request) *held {
	hijacker, can := bottom(w).(http.Hijacker) // gin's own fails where the one below it cannot
	if !can || r.ProtoMajor != 1 {
		return nil
	}
	conn, buffered, err := hijacker.Hijack()
	if err != nil {
		return nil
	}
	return &held{Conn: conn, chunked: r.ProtoAtLeast(1, 1), talking: buffered.Reader.Buffered() > 0}
}

// Header implements http.ResponseWriter; the header was sent.
func (h *held) Header() http.Header { return nil }

// WriteHeader implements http.ResponseWriter.
func (h *held) WriteHeader(int) {}

// FlushError implements what flusher looks for; nothing is held back.
func (h *held) FlushError() error { return nil }

// Write implements http.ResponseWriter.
func (h *held) Write(p []byte) (int, error) {
	h.written += int64(len(p))
	if !h.chunked {
		return h.Conn.Write(p)
	}
	h.chunk = append(strconv.AppendUint(h.chunk[:0], uint64(len(p)), 16), "\r\n"...)
	h.chunk = append(append(h.chunk, p...), "\r\n"...)
	_, err := h.Conn.Write(h.chunk)
	return len(p), err
}

// finish ends the body, so that the client knows that nothing is missing.
func (h *held) finish() {
	if h.chunked {
		_ = h.SetWriteDeadline(time.Now().Add(farewellTimeout)) // who does not take it is cut
		_, _ = h.Conn.Write([]byte("0\r\n\r\n"))
	}
}

// listen calls gone when the client goes away. One that speaks is listened to no further.
func (h *held) listen(gone func()) {
	if h.talking {
		return
	}
	var one [1]byte
	if _, err := h.Read(one[:]); err != nil {
		gone()
	}
}
