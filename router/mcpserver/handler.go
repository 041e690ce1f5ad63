package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skillrouter/skillrouter/internal/deadline"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/strictjson"
)

// Bounds of what one client may send at once.
const (
	// MaxMessage bounds one message, in bytes: the largest content of an entry,
	// each byte of it escaped as six, and as much again for the rest.
	MaxMessage = 8 << 20
	// MaxBatch bounds the messages of one batch, which only the oldest protocols
	// have: all of them are worked on at the same time.
	MaxBatch = 32
	// bodyTimeout is how long a request's body may take to arrive.
	bodyTimeout = 10 * time.Second
	// streamWrite is how long one write to a stream may take. Between writes a stream may be silent for hours.
	streamWrite = 10 * time.Second
)

// statelessFrom is the first protocol version without sessions: what a call
// needs to be understood is in the call itself.
const statelessFrom = "2026-07-28"

const (
	versionHeader = "Mcp-Protocol-Version"
	sessionHeader = "Mcp-Session-Id"
)

// newHandler makes the HTTP side: calls of the newest protocol each stand
// alone; the older ones have sessions. A session's answers are streams, because
// progress and log messages come before the answer, and the list of its tools
// may change, which GET hears of. A call that stands alone is answered by a stream if
// it asks for such messages, and else by the answer alone.
func (s *Server) newHandler(log *slog.Logger) http.Handler {
	server := func(*http.Request) *mcp.Server { return s.mcp }
	// Host and Origin are checked by the frame, which knows what this server may be called.
	alone := func(plain bool) http.Handler {
		return mcp.NewStreamableHTTPHandler(server, &mcp.StreamableHTTPOptions{
			Stateless: true, JSONResponse: plain, PropagateRequestCancellation: true, Logger: log,
			DisableLocalhostProtection: true, MaxRequestBodyBytes: MaxMessage,
		})
	}
	stateless, streaming := alone(true), alone(false)
	stateful := mcp.NewStreamableHTTPHandler(server, &mcp.StreamableHTTPOptions{
		SessionTimeout: SessionTimeout, Logger: log,
		DisableLocalhostProtection: true, MaxRequestBodyBytes: MaxMessage,
	})
	return identified(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.ready()
		wantsStream := false
		switch r.Method {
		case http.MethodPost:
			body, ok := readAll(w, r)
			if !ok {
				return
			}
			if r.Header.Get(versionHeader) < statelessFrom && refuseUnknown(w, body) {
				return
			}
			begins, wants := look(body)
			if wantsStream = wants; begins { // one of before a restart is gone, and the client would never get another
				r.Header.Del(sessionHeader)
			}
		case http.MethodDelete:
		case http.MethodGet:
			if r.Header.Get(sessionHeader) != "" && r.Header.Get(versionHeader) < statelessFrom {
				s.listen(w, r, stateful)
				return
			}
			fallthrough
		default:
			w.Header().Set("Allow", "POST, DELETE")
			refuse(w, http.StatusMethodNotAllowed, jsonrpc.CodeInvalidRequest, "without a session there are no streams: send calls with POST")
			return
		}
		if r.Header.Get(versionHeader) >= statelessFrom {
			if wantsStream {
				streaming.ServeHTTP(w, r)
			} else {
				stateless.ServeHTTP(w, r)
			}
			return
		}
		defer s.sessions.use(r.Header.Get(sessionHeader))()
		stateful.ServeHTTP(w, r)
	}))
}

// methods are what a client may call. Custom ones, of which there are none, would belong here too.
var methods = map[string]bool{
	"initialize": true, "ping": true, "server/discover": true, methodListen: true,
	"tools/list": true, "tools/call": true, "prompts/list": true, "prompts/get": true,
	"resources/list": true, "resources/templates/list": true, "resources/read": true, "resources/subscribe": true, "resources/unsubscribe": true,
	"logging/setLevel": true, "completion/complete": true,
}

// refuseUnknown answers a call of a method that there is not, as on standard
// input. To calls of a session the library answers plain text, which a client
// takes for a fault of the transport; 404 would tell it that its session is gone.
func refuseUnknown(w http.ResponseWriter, body []byte) bool {
	if _, isBatch := elements(body); isBatch {
		return false
	}
	message, _ := jsonrpc.DecodeMessage(body) // readAll has decoded it before
	call, ok := message.(*jsonrpc.Request)
	if !ok || !call.IsCall() || methods[call.Method] {
		return false
	}
	raw, err := jsonrpc.EncodeMessage(&jsonrpc.Response{ID: call.ID, Error: &jsonrpc.Error{
		Code: jsonrpc.CodeMethodNotFound, Message: "method not found: \"" + shown(call.Method) + "\"",
	}})
	if err != nil {
		return false
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(raw) // the client may be gone
	return true
}

// look tells whether a call begins a session, and whether it wants to hear of its progress, or of what is logged.
func look(body []byte) (begins, wantsStream bool) {
	var call struct {
		Method string `json:"method"`
		Params struct {
			Meta map[string]json.RawMessage `json:"_meta"`
		} `json:"params"`
	}
	if json.Unmarshal(body, &call) != nil {
		return false, false // it is a batch, or will be refused
	}
	return call.Method == "initialize", call.Params.Meta["progressToken"] != nil || call.Params.Meta["io.modelcontextprotocol/logLevel"] != nil
}

// listen serves the stream by which a session hears what no call of its own asked for. It ends with
// EndStreams, and a client that reads nothing for streamWrite is cut off.
func (s *Server) listen(w http.ResponseWriter, r *http.Request, stateful http.Handler) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	go func() {
		select {
		case <-s.streams.ended:
			cancel()
		case <-ctx.Done():
		}
	}()
	defer s.sessions.use(r.Header.Get(sessionHeader))()
	stateful.ServeHTTP(deadline.New(w, streamWrite), r.WithContext(ctx))
}

// readAll reads the body, within its bounds of size and time, before
// anything is started for it, and answers what is over them.
func readAll(w http.ResponseWriter, r *http.Request) ([]byte, bool) {
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(bodyTimeout)) // fails only for writers that are no connection
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxMessage))
	if err == nil { // what did not come in time is not waited for once more
		_ = control.SetReadDeadline(time.Time{})
	}
	if err != nil {
		if _, over := errors.AsType[*http.MaxBytesError](err); over {
			refuse(w, http.StatusRequestEntityTooLarge, jsonrpc.CodeInvalidRequest, tooLong)
		} else {
			refuse(w, http.StatusBadRequest, jsonrpc.CodeParseError, "the body could not be read")
		}
		return nil, false
	}
	if fault := checkMessage(body); fault != nil {
		refuse(w, http.StatusBadRequest, fault.Code, fault.Message)
		return nil, false
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.ContentLength = int64(len(body))
	return body, true
}

const tooLong = "the message is longer than 8 MiB; shorten what it carries, or store it in a file and send its path"

// checkMessage says what is wrong with a message, or a batch of them, that
// cannot be handed on: the library would end the session over it.
func checkMessage(raw []byte) *jsonrpc.Error {
	if !json.Valid(raw) {
		return &jsonrpc.Error{Code: jsonrpc.CodeParseError, Message: "this is not valid JSON"}
	}
	if err := strictjson.CheckCrowd(raw); err != nil {
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: errs.MessageOf(err)}
	}
	batch, isBatch := elements(raw)
	if !isBatch {
		batch = []json.RawMessage{raw}
	}
	if len(batch) == 0 || len(batch) > MaxBatch {
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: fmt.Sprintf("a batch holds 1 to %d messages", MaxBatch)}
	}
	for _, element := range batch {
		message, err := jsonrpc.DecodeMessage(element)
		answer, isAnswer := message.(*jsonrpc.Response)
		if err != nil || isAnswer && answer.Result == nil && answer.Error == nil {
			return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: `this is not a JSON-RPC 2.0 message: it needs "jsonrpc": "2.0", a "method", and an "id" that is a string or an integer`}
		}
	}
	return nil
}

// elements returns the messages of a batch; false if raw is no array.
func elements(raw []byte) ([]json.RawMessage, bool) {
	if trimmed := bytes.TrimLeft(raw, " \t\r\n"); len(trimmed) == 0 || trimmed[0] != '[' {
		return nil, false
	}
	var batch []json.RawMessage
	if err := json.Unmarshal(raw, &batch); err != nil {
		return nil, true
	}
	return batch, true
}

// refuse answers a request that reaches no session.
func refuse(w http.ResponseWriter, status int, code int64, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(refusal(code, message)) // the client may be gone
}

// refusal is the answer to a message whose id is not known.
func refusal(code int64, message string) []byte {
	answer := struct {
		Version string         `json:"jsonrpc"`
		ID      *string        `json:"id"` // null
		Error   *jsonrpc.Error `json:"error"`
	}{Version: "2.0", Error: &jsonrpc.Error{Code: code, Message: message}}
	raw, _ := json.Marshal(answer) // strings and numbers always marshal
	return raw
}
