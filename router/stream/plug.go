package stream

import (
	"bufio"
	"bytes"
	"net"
	"net/http"
	"sync"
	"time"
)

// plug is the connection below a WebSocket. The library shakes hands, reads,
// and writes control frames through it; events are written past the library,
// in frames that are made once for all clients, many at a time. Either writes
// whole frames only, so that they may take turns.
type plug struct {
	net.Conn

	deadline sync.Mutex // orders the deadlines of frames and hurry
	ending   bool       // the hub is shutting down

	mu      sync.Mutex
	broken  error
	list    net.Buffers
	written int64
}

// Write implements net.Conn for the library.
func (p *plug) Write(b []byte) (int, error) {
	if err := p.frames(b); err != nil {
		return 0, err
	}
	return len(b), nil
}

// frames writes whole frames, within WriteTimeout. A failure may leave half a
// frame behind it, and so is the last thing that the connection does.
func (p *plug) frames(frames ...[]byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.broken != nil {
		return p.broken
	}
	p.limit(false)
	p.list = append(p.list[:0], frames...)
	rest := p.list // writing moves it on, and p.list is used again
	n, err := rest.WriteTo(p.Conn)
	p.written += n
	if p.broken = err; err != nil {
		_ = p.Close()
	}
	clear(p.list[:cap(p.list)]) // the frames are the tail's to keep
	return p.broken
}

// hurry shortens the deadline of a write under way, and of those to come.
func (p *plug) hurry() { p.limit(true) }

func (p *plug) limit(ending bool) {
	p.deadline.Lock()
	defer p.deadline.Unlock()
	p.ending = p.ending || ending
	limit := WriteTimeout
	if p.ending {
		limit = farewellTimeout
	}
	_ = p.SetWriteDeadline(time.Now().Add(limit)) // a connection that is closed says so when it is written to
}

// upgrade is a response that hands the library a plug in the connection's place.
type upgrade struct {
	http.ResponseWriter
	plug *plug
}

const (
	// controlBuffer holds the longest control frame.
	controlBuffer = 256
	// hearingBuffer is for what clients send, which is little: net/http's own would stay with its 4 KB.
	hearingBuffer = 512
)

// Hijack implements http.Hijacker.
func (u *upgrade) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffered, err := http.NewResponseController(u.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	u.plug = &plug{Conn: conn}
	early, _ := buffered.Reader.Peek(buffered.Reader.Buffered())
	hearing := bufio.NewReaderSize(bytes.NewReader(early), max(hearingBuffer, len(early)))
	_, _ = hearing.Peek(len(early)) // the library has it read on from the connection, behind what is in the buffer
	return u.plug, bufio.NewReadWriter(hearing, bufio.NewWriterSize(u.plug, controlBuffer)), nil
}

// WriteHeaderNow sends the header, where the writer below keeps it back until the body: the library asks for it by this name.
func (u *upgrade) WriteHeaderNow() {
	if w, ok := u.ResponseWriter.(interface{ WriteHeaderNow() }); ok {
		w.WriteHeaderNow()
	}
}
