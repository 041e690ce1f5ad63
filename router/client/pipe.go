package client

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/tmaxmax/go-sse"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/router/client/plain"
)

const (
	// maxPiped bounds what is read of one message, in bytes. It is more than the router takes, which says so.
	maxPiped = 8<<20 + 1
	// drainTime is how long calls that are under way may still take when the input
	// has ended. A client that pipes its calls in closes the input at once.
	drainTime = 30 * time.Second
	// leaveTime bounds the ending of the session.
	leaveTime = 2 * time.Second
	// withoutSessions is the first version of the Model Context Protocol that has none.
	withoutSessions = "2026-07-28"

	sessionHeader = "Mcp-Session-Id"
	versionHeader = "Mcp-Protocol-Version"

	// Codes of errors by JSON-RPC.
	invalidRequest = -32600
	serverError    = -32000
)

// Pipe connects a client of the Model Context Protocol, which writes a JSON-RPC message on each
// line, to the router's /mcp. The router does all the work; the pipe keeps the session, and
// begins another when the router has lost it.
type Pipe struct {
	// Dial returns a client of the router. It is called again when the router was away.
	Dial func(ctx context.Context) (*Client, error)
	// Query says whose calls these are: agent_id, project, folder, branch and toolsets, as /mcp reads them. It is asked at each
	// message, because an agent changes its branch. Nil: nobody says.
	Query func() url.Values

	writing sync.Mutex // held while a line is written
	out     io.Writer

	mu        sync.Mutex // held while what follows is changed
	at        pipedTo
	opening   []byte // the client's call of initialize
	begun     []byte // its word that it is initialized
	listening bool   // to what the router sends outside of calls

	life    context.Context // of the pipe
	work    sync.WaitGroup  // the calls under way
	streams sync.WaitGroup
	cancels sync.Map // context.CancelFunc of the calls without a session, by id
}

// pipedTo is where messages go.
type pipedTo struct {
	c                *Client
	session, version string // empty: there is no session
}

// piped is a message of the client.
type piped struct {
	line   []byte
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name      string          `json:"name"`
		URI       string          `json:"uri"`
		RequestID json.RawMessage `json:"requestId"`
		Meta      struct {
			Version string `json:"io.modelcontextprotocol/protocolVersion"`
		} `json:"_meta"`
	} `json:"params"`
}

// silent tells whether a message wants no answer, because it is a notification or an answer itself.
// What cannot be read is neither.
func (m *piped) silent() bool { return (m.Method == "") != (m.ID == nil) }

func (m *piped) sessionless() bool { return m.Params.Meta.Version >= withoutSessions }

// Run hands on what stands in in until it ends and each call has its answer, or until ctx ends.
// Nothing but messages is written to out. in is closed at the end if it can be; a read from one
// that cannot is left behind.
func (p *Pipe) Run(ctx context.Context, in io.Reader, out io.Writer) (err error) {
	if p.at.c, err = p.Dial(ctx); err != nil {
		return err
	}
	life, cancel := context.WithCancel(ctx)
	defer cancel()
	p.life, p.out = life, out
	read := make(chan struct{})
	go func() {
		defer close(read)
		p.read(in)
	}()
	select {
	case <-read:
	case <-life.Done():
	}
	if closer, ok := in.(io.Closer); ok {
		_ = closer.Close() // a reader that is left behind gets nothing more
	}
	defer time.AfterFunc(drainTime, cancel).Stop()
	p.work.Wait()
	p.leave()
	cancel()
	p.streams.Wait()
	p.at.c.Close()
	return nil
}

// read delivers each line of in. Calls are delivered side by side; what others rely on is waited for.
func (p *Pipe) read(in io.Reader) {
	var line []byte
	for reader := bufio.NewReader(in); p.life.Err() == nil; {
		part, err := reader.ReadSlice('\n')
		line = append(line, part[:min(len(part), maxPiped-len(line))]...)
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			m := &piped{line: line}
			_ = json.Unmarshal(line, m) // the router says what is wrong with it
			p.take(m)
		}
		if line = nil; err != nil {
			return
		}
	}
}

func (p *Pipe) take(m *piped) {
	cancel, cancelled := p.cancels.Load(string(m.Params.RequestID))
	switch {
	case m.Method == "notifications/cancelled" && cancelled:
		cancel.(context.CancelFunc)()
	case m.silent() || m.ID == nil || m.Method == "initialize" || m.Method == "logging/setLevel":
		p.deliver(p.life, m)
	default:
		ctx, cancel := context.WithCancel(p.life)
		if m.sessionless() {
			p.cancels.Store(string(m.ID), cancel)
		}
		p.work.Go(func() {
			p.deliver(ctx, m)
			p.cancels.Delete(string(m.ID))
			cancel()
		})
	}
}

// deliver sends a message to the router and writes what comes back. A message that reached no
// router, or whose session is gone, is sent once more, by a new connection and in a new session.
func (p *Pipe) deliver(ctx context.Context, m *piped) {
	for again := false; ; again = true {
		at := p.current(m)
		connected := false
		traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected = true }})
		response, err := p.send(traced, at, http.MethodPost, m)
		lost := err == nil && at.session != "" && response.StatusCode == http.StatusNotFound
		if !again && (lost || err != nil && !connected) {
			if lost {
				_ = response.Body.Close()
			}
			if err = p.renew(ctx, at); err == nil {
				continue
			}
		} else if err == nil {
			err = p.answer(m, at, response)
		}
		if err != nil && ctx.Err() == nil && !m.silent() {
			p.fail(m, serverError, strings.TrimSpace(errs.FieldOf(err)+" "+errs.MessageOf(err)))
		}
		return
	}
}

// current is where a message goes.
func (p *Pipe) current(m *piped) pipedTo {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case m.sessionless():
		return pipedTo{c: p.at.c}
	case m.Method == "initialize":
		p.opening, p.begun, p.listening, p.at = m.line, nil, false, pipedTo{c: p.at.c}
	case m.Method == "notifications/initialized":
		p.begun = m.line
	case !m.silent():
		p.listen()
	}
	return p.at
}

// listen hears what the router sends outside of calls, such as that the tools are others now. It
// comes before each call that finds it ended, so that nothing is lost that the call brings about.
func (p *Pipe) listen() {
	at := p.at
	if at.session == "" || p.listening {
		return
	}
	response, err := p.send(p.life, at, http.MethodGet, nil)
	if err != nil {
		return // the call finds out why
	}
	p.listening = response.StatusCode == http.StatusOK
	p.streams.Go(func() {
		defer response.Body.Close()
		_ = events(response.Body, p.write) // the next call listens again
		p.mu.Lock()
		defer p.mu.Unlock()
		p.listening = p.listening && p.at != at
	})
}

// events hands on the data of each event of a stream until it ends.
func events(stream io.Reader, take func(message []byte)) error {
	for event, err := range sse.Read(stream, &sse.ReadConfig{MaxEventSize: MaxAnswer}) {
		if err != nil {
			return err
		}
		if event.Data != "" {
			take([]byte(event.Data))
		}
	}
	return io.EOF
}

// renew looks for the router anew and begins a session as the client began the one that is gone,
// unless another call has since. Tools that were switched on for that session are gone, too, so
// the client is told to list them again.
func (p *Pipe) renew(ctx context.Context, gone pipedTo) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.at.c != gone.c || gone.session != "" && p.at.session != gone.session {
		return nil
	}
	c, err := p.Dial(ctx)
	if err != nil {
		return err
	}
	p.at.c.Close()
	p.at.c, p.listening = c, false
	if p.at.session == "" {
		return nil
	}
	to := pipedTo{c: c}
	for _, line := range [][]byte{p.opening, p.begun} {
		if line == nil {
			break // the client has not begun to call
		}
		response, err := p.send(ctx, to, http.MethodPost, &piped{line: line})
		if err != nil {
			return err // the next call finds the session gone
		}
		_, _ = io.Copy(io.Discard, response.Body)
		_ = response.Body.Close()
		to.session, to.version = cmp.Or(response.Header.Get(sessionHeader), to.session), gone.version
	}
	p.at = to
	p.write([]byte(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`))
	return nil
}

// leave ends the session. The router ends what is not used by itself, so a failure is none.
func (p *Pipe) leave() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(p.life), leaveTime)
	defer cancel()
	if p.at.session == "" {
		return
	}
	if response, err := p.send(ctx, p.at, http.MethodDelete, nil); err == nil {
		_ = response.Body.Close()
	}
}

// send makes a request of the router's endpoint. m is nil if it bears no message.
func (p *Pipe) send(ctx context.Context, at pipedTo, method string, m *piped) (*http.Response, error) {
	header := map[string]string{"Accept": "application/json, text/event-stream", sessionHeader: at.session, versionHeader: at.version}
	var body io.Reader
	if m != nil {
		header["Content-Type"], body = "application/json", bytes.NewReader(m.line)
		if m.sessionless() {
			header[versionHeader], header["Mcp-Method"], header["Mcp-Name"] = m.Params.Meta.Version, m.Method, cmp.Or(m.Params.Name, m.Params.URI)
		} else if bytes.HasPrefix(m.line, []byte("[")) {
			header[versionHeader] = "" // batches are of a version that had no such header
		}
	}
	to := address{path: "/mcp"}
	if p.Query != nil {
		to.query = p.Query()
	}
	r, err := at.c.request(ctx, method, to, body, "")
	if err != nil {
		return nil, err
	}
	for name, value := range header {
		if value != "" {
			r.Header.Set(name, value)
		}
	}
	response, err := at.c.http.Do(r)
	if err != nil {
		return nil, at.c.unreachable(ctx, err)
	}
	return response, nil
}

// answer writes what the router answers to a message.
func (p *Pipe) answer(m *piped, at pipedTo, response *http.Response) error {
	defer response.Body.Close()
	kind := response.Header.Get("Content-Type")
	if strings.HasPrefix(kind, "text/event-stream") {
		answered := false
		if err := events(response.Body, func(message []byte) { answered = p.said(m, response, message) || answered }); !answered {
			return errs.Wrap(errs.Unavailable, err, "the router at %s went away before it answered; look whether the call was done before you make it again", at.c.base)
		}
		return nil
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, MaxAnswer))
	switch {
	case err != nil:
		return at.c.unreachable(response.Request.Context(), err)
	case p.said(m, response, body) || m.silent():
		return nil
	case response.StatusCode == http.StatusBadRequest && strings.HasPrefix(kind, "text/plain"):
		p.fail(m, invalidRequest, strings.TrimSpace(string(body)))
		return nil
	}
	return plain.Problem(at.c.base, response.StatusCode, response.Status, body)
}

// said writes a message that came while m was under way, and tells whether it is m's answer.
func (p *Pipe) said(m *piped, response *http.Response, message []byte) bool {
	var said struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Method  string          `json:"method"`
		Result  struct {
			ProtocolVersion string `json:"protocolVersion"`
		} `json:"result"`
		Error struct {
			Code    int    `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}
	_ = json.Unmarshal(message, &said)
	switch {
	case said.Version == "":
		return false
	case m.Method == "initialize" && said.Result.ProtocolVersion != "":
		p.mu.Lock()
		p.at.session, p.at.version = response.Header.Get(sessionHeader), said.Result.ProtocolVersion
		p.mu.Unlock()
	case string(said.ID) == "null": // it was refused unread, and its sender waits
		p.fail(m, said.Error.Code, said.Error.Message)
		return true
	}
	p.write(message)
	return said.Method == ""
}

// fail answers a message that the router did not. Only the id of a call can be repeated.
func (p *Pipe) fail(m *piped, code int, message string) {
	id := []byte("null")
	if m.Method != "" && m.ID != nil && strings.IndexByte(`"-0123456789`, m.ID[0]) >= 0 {
		id = m.ID
	}
	text, _ := json.Marshal(message) // a string always marshals
	p.write(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%s}}`, id, code, text))
}

// write writes a message on a line of its own.
func (p *Pipe) write(message []byte) {
	var line bytes.Buffer
	if json.Compact(&line, message) != nil {
		return // it would break the client's framing
	}
	line.WriteByte('\n')
	p.writing.Lock()
	defer p.writing.Unlock()
	_, _ = p.out.Write(line.Bytes()) // a client that reads no more ends the input, too
}
