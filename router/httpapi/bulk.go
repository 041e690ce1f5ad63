package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gin-gonic/gin"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
)

// Bounds of a bulk call.
const (
	// bulkIdle is how long the client may take for a piece of the body.
	bulkIdle = 10 * time.Second
	// bulkPiece is what the client must send within that, in bytes: one that sends a byte
	// at a time would hold a connection for days.
	bulkPiece = 1 << 10
	// bulkAnswer is how long the client may take to accept the answer, and to send what is
	// still read of a body with a fault in it.
	bulkAnswer = 10 * time.Second
	// bulkDrain is how much of a body is still read, and dropped, after it was answered:
	// most clients read no answer before they have sent everything.
	bulkDrain = 32 << 20
)

// bulk is a call that takes many records, sent as a JSON array or as one JSON
// object a line. It is mounted beside huma, which would hold the whole body in
// memory and know nothing of lines.
type bulk[Draft, Result, Broken any] struct {
	op     huma.Operation
	need   principal.Scope // whoever has it not is refused before a byte of the body is read
	limit  int64           // of the body, in bytes; 0: none
	record int             // bytes of JSON that a record may have
	object reflect.Type    // what a body of JSON may be besides, with the records in it; nil: nothing
	// store reads the records until io.EOF and does with them what the call is for.
	// Beside an error, its result tells what was done before.
	store func(ctx context.Context, from *records[Draft]) (Result, error)
	// broken is the answer to a call that was broken off.
	broken func(p *Problem, result Result) Broken
}

// mount serves the call and describes it.
func (b bulk[Draft, Result, Broken]) mount(s *Server) {
	s.engine.POST(b.op.Path, func(c *gin.Context) { b.serve(s, c) })

	s.describe(func(document *huma.OpenAPI) {
		op, registry := b.op, document.Components.Schemas
		draft := reflect.TypeFor[Draft]()
		body := reflect.SliceOf(draft)
		if b.object != nil { // records of any kind
			draft, body = reflect.TypeFor[json.RawMessage](), b.object
		}
		drafts := registry.Schema(body, true, "Drafts")
		line := registry.Schema(draft, true, "Draft")
		op.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
			"application/json":     {Schema: drafts},
			"application/x-ndjson": {Schema: line},
		}}
		result := registry.Schema(reflect.TypeFor[Result](), true, "Result")
		broken := registry.Schema(reflect.TypeFor[Broken](), true, "BulkProblem")
		op.Responses = map[string]*huma.Response{
			"200":     {Description: "What became of the records", Content: map[string]*huma.MediaType{"application/json": {Schema: result}}},
			"default": {Description: "Broken off", Content: map[string]*huma.MediaType{"application/problem+json": {Schema: broken}}},
		}
		document.AddOperation(&op)
	})
}

func (b bulk[Draft, Result, Broken]) serve(s *Server, c *gin.Context) {
	ctx := c.Request.Context()
	var none Result
	body, err := openBulk(c, b.need, b.limit)
	if err != nil {
		p := s.fail(ctx, err)
		body.refuse(c, p, b.broken(p, none))
		return
	}
	records := newRecords[Draft](body, b.record, c.ContentType() == "application/json")
	result, err := b.store(ctx, records)
	if err == nil && !records.begun && records.json {
		err = errs.Errorf(errs.Invalid, "the body is empty: an array is needed")
	}
	if err = body.fault(err); err != nil {
		p := s.fail(ctx, err)
		body.refuse(c, p, b.broken(p, result))
		return
	}
	body.answer(s, c, result)
}

// bulkBody is the body of a bulk call.
type bulkBody struct {
	patientReader
	unlimited io.Reader // without the limit
	limit     int64
	control   *http.ResponseController
}

// openBulk begins a bulk call. Beside an error the body is there, to be refused.
func openBulk(c *gin.Context, need principal.Scope, limit int64) (*bulkBody, error) {
	b := &bulkBody{unlimited: c.Request.Body, limit: limit, control: http.NewResponseController(c.Writer)}
	_ = b.control.EnableFullDuplex()            // who is refused hears of it before the rest of the body has come
	_ = b.control.SetWriteDeadline(time.Time{}) // it is set when there is an answer to write
	// Deadlines of connections are told by the system's clock, not by the injected one.
	b.patientReader = patientReader{body: b.unlimited, extend: func() { _ = b.control.SetReadDeadline(time.Now().Add(bulkIdle)) }}
	if err := principal.Of(c.Request.Context()).Need(need); err != nil {
		return b, err
	}
	if limit > 0 {
		if c.Request.ContentLength > limit {
			return b, b.tooLong(nil)
		}
		b.body = http.MaxBytesReader(nil, c.Request.Body, limit)
	}
	return b, nil
}

func (b *bulkBody) tooLong(cause error) error {
	return &errs.Error{Code: errs.TooLarge, Message: fmt.Sprintf("the body is longer than %d bytes: send it in parts", b.limit), Err: cause}
}

// fault is what went wrong, with the limit of the body said in words.
func (b *bulkBody) fault(err error) error {
	if _, over := errors.AsType[*http.MaxBytesError](err); over {
		b.ended = false // of the limit, not of the body
		return b.tooLong(err)
	}
	return err
}

// refuse answers with a problem, or a document that has its members, and reads
// what still comes of the body: whoever sends before he listens would hear of
// nothing but a broken connection.
func (b *bulkBody) refuse(c *gin.Context, p *Problem, document any) {
	_ = b.control.SetWriteDeadline(time.Now().Add(bulkAnswer))
	c.Header("Connection", "close") // what is left of the body is no further request
	writeProblem(c.Writer, p, document)
	if b.ended || b.control.Flush() != nil || c.GetHeader("Expect") != "" {
		return
	}
	_ = b.control.SetReadDeadline(time.Now().Add(bulkAnswer))
	_, _ = io.CopyN(io.Discard, b.unlimited, bulkDrain) // its end, or its failure, changes nothing
	_ = b.control.SetReadDeadline(time.Now())           // and the server need not wait for the rest
}

// answer answers with what was done.
func (b *bulkBody) answer(s *Server, c *gin.Context, result any) {
	_ = b.control.SetWriteDeadline(time.Now().Add(bulkAnswer))
	text, err := json.Marshal(result)
	if err != nil {
		abort(c, s.fail(c.Request.Context(), err))
		return
	}
	c.Data(http.StatusOK, "application/json", text)
}

// patientReader gives the client more time with each piece of bulkPiece bytes that it sends.
type patientReader struct {
	body   io.Reader
	extend func()
	owed   int  // bytes until there is more time
	ended  bool // there is no more, or it cannot be had
}

// Read implements io.Reader.
func (r *patientReader) Read(p []byte) (int, error) {
	if r.owed <= 0 {
		r.extend()
		r.owed = bulkPiece
	}
	n, err := r.body.Read(p)
	r.owed -= n
	r.ended = r.ended || err != nil
	return n, err
}
