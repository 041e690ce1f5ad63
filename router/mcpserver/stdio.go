package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// drainTime is how long calls that are under way may still take when the input
// has ended. A client that pipes its calls in closes the input at once.
const drainTime = 30 * time.Second

// ServeStdio serves one client that writes a JSON-RPC message on each line of
// in and reads the answers from out, until in ends and every call has its
// answer, or ctx ends. Nothing but messages is written to out. in is closed
// at the end if it can be; a read from one that cannot is left behind.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.ready()
	lines := newLines(in, out)
	session, err := s.mcp.Connect(ctx, lines, nil)
	if err != nil {
		return err
	}
	s.asker.session.Store(session)
	stop := context.AfterFunc(ctx, func() { _ = session.Close() })
	defer stop()
	if err := session.Wait(); err != nil && ctx.Err() == nil && !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// lines is the connection of ServeStdio. The library's own ends the session
// at the first malformed line, and drops the calls under way when the input
// ends; a wrapper script or a hand-written client deserves better.
type lines struct {
	in     io.Reader
	closed chan struct{}
	close  func()
	read   chan []byte // a line, checked

	queue []jsonrpc.Message // the rest of a batch; used by Read alone

	mu      sync.Mutex // guards what follows, and out
	out     io.Writer
	pending map[jsonrpc.ID]*batch // calls without an answer, and the batch that each came in
	idle    chan struct{}         // closed when the input has ended and nothing is pending; nil before
}

// batch is a batch whose answers are gathered, because they go out together.
// A call that came alone has none.
type batch struct {
	open    int
	answers []json.RawMessage
}

func newLines(in io.Reader, out io.Writer) *lines {
	closed := make(chan struct{})
	return &lines{
		in: in, out: out, closed: closed, close: sync.OnceFunc(func() { close(closed) }),
		read: make(chan []byte), pending: map[jsonrpc.ID]*batch{},
	}
}

// Connect implements mcp.Transport. The reading goroutine ends with the input
// or, once the connection is closed, at the next line.
func (l *lines) Connect(context.Context) (mcp.Connection, error) {
	go l.scan()
	return l, nil
}

// SessionID implements mcp.Connection: there is one session, and it needs no name.
func (l *lines) SessionID() string { return "" }

// scan reads lines, answers those that are no messages, and hands on the others.
func (l *lines) scan() {
	defer close(l.read)
	reader := bufio.NewReader(l.in)
	for {
		line, tooLongBy, err := readLine(reader)
		line = bytes.TrimSpace(line)
		switch {
		case tooLongBy:
			l.reply(refusal(jsonrpc.CodeInvalidRequest, tooLong))
		case len(line) == 0:
		default:
			if fault := checkMessage(line); fault != nil {
				l.reply(refusal(fault.Code, fault.Message))
				break
			}
			select {
			case l.read <- line:
			case <-l.closed:
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// readLine reads up to and including the next line break. Of a line over
// MaxMessage it keeps nothing and says so.
func readLine(reader *bufio.Reader) (line []byte, over bool, err error) {
	for {
		part, err := reader.ReadSlice('\n')
		if over = over || len(line)+len(part) > MaxMessage; over {
			line = nil
		} else {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, over, err
		}
	}
}

// Read implements mcp.Connection.
func (l *lines) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		if len(l.queue) > 0 {
			next := l.queue[0]
			l.queue = l.queue[1:]
			return next, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-l.closed:
			return nil, io.EOF
		case line, more := <-l.read:
			if !more {
				l.drain(ctx)
				return nil, io.EOF
			}
			if err := l.accept(line); err != nil {
				return nil, err
			}
		}
	}
}

// accept queues the messages of a checked line and notes which calls want answers.
func (l *lines) accept(line []byte) error {
	parts, isBatch := elements(line)
	var together *batch
	if isBatch {
		together = &batch{}
	} else {
		parts = []json.RawMessage{line}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, part := range parts {
		message, err := jsonrpc.DecodeMessage(part)
		if err != nil {
			return err // checkMessage has decoded it before
		}
		l.queue = append(l.queue, message)
		call, ok := message.(*jsonrpc.Request)
		if !ok || !call.IsCall() || call.Method == methodListen {
			continue // a subscription has no end of its own, and nobody waits for its answer
		}
		if _, twice := l.pending[call.ID]; twice {
			continue // the library refuses it, without its id
		}
		l.pending[call.ID] = together
		if together != nil {
			together.open++
		}
	}
	return nil
}

// drain waits until every call has its answer, for drainTime at most.
func (l *lines) drain(ctx context.Context) {
	l.mu.Lock()
	if len(l.pending) == 0 {
		l.mu.Unlock()
		return
	}
	idle := make(chan struct{})
	l.idle = idle
	l.mu.Unlock()
	timer := time.NewTimer(drainTime)
	defer timer.Stop()
	select {
	case <-idle:
	case <-timer.C:
	case <-l.closed:
	case <-ctx.Done():
	}
}

// Write implements mcp.Connection.
func (l *lines) Write(_ context.Context, message jsonrpc.Message) error {
	raw, err := jsonrpc.EncodeMessage(message)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	answer, ok := message.(*jsonrpc.Response)
	if !ok {
		return l.write(raw)
	}
	together, known := l.pending[answer.ID]
	delete(l.pending, answer.ID)
	if known && together != nil {
		together.answers = append(together.answers, raw)
		if together.open--; together.open == 0 {
			if raw, err = json.Marshal(together.answers); err == nil {
				err = l.write(raw)
			}
		}
	} else {
		err = l.write(raw)
	}
	if len(l.pending) == 0 && l.idle != nil {
		close(l.idle)
		l.idle = nil
	}
	return err
}

// reply writes what is no message of the session.
func (l *lines) reply(raw []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.write(raw) // if nobody reads any more, the session's own next write finds out
}

// write writes a line; l.mu is held.
func (l *lines) write(raw []byte) error {
	_, err := l.out.Write(append(raw, '\n'))
	return err
}

// Close implements mcp.Connection.
func (l *lines) Close() error {
	l.close()
	if closer, ok := l.in.(io.Closer); ok {
		_ = closer.Close() // ends a read that waits; one that cannot be ended is left behind
	}
	return nil
}
