package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gin-gonic/gin"

	"skillrouter"
)

// Bounds of a bulk call.
const (
	// bulkIdle is how long the client may send nothing.
	bulkIdle = 30 * time.Second
	// bulkAnswer is how long the client may take to accept the answer, and before that
	// to send what is still read of a body with a fault in it.
	bulkAnswer = 10 * time.Second
	// bulkDrain is how much of a body is still read, and dropped, after a fault in it:
	// most clients read no answer before they have sent everything.
	bulkDrain = 32 << 20
)

// bulk is a call that takes many records, sent as a JSON array or as one JSON
// object a line. It is mounted beside huma, which would hold the whole body in
// memory and know nothing of lines.
type bulk[Draft, Result, Broken any] struct {
	op     huma.Operation
	limit  int64 // of the body, in bytes; 0: none
	record int   // bytes of JSON that a record may have
	// store reads the records until io.EOF and does with them what the call is for.
	// Beside an error, its result tells what was done before.
	store func(ctx context.Context, next func() (Draft, error)) (Result, error)
	// broken is the answer to a call that was broken off.
	broken func(p *Problem, result Result) Broken
}

// mount serves the call and describes it.
func (b bulk[Draft, Result, Broken]) mount(s *Server) {
	s.engine.POST(b.op.Path, func(c *gin.Context) { b.serve(s, c) })

	s.describe(func(api huma.API) {
		op, registry := b.op, api.OpenAPI().Components.Schemas
		drafts := registry.Schema(reflect.TypeFor[[]Draft](), true, "Drafts")
		line := registry.Schema(reflect.TypeFor[Draft](), true, "Draft")
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
		api.OpenAPI().AddOperation(&op)
	})
}

func (b bulk[Draft, Result, Broken]) serve(s *Server, c *gin.Context) {
	ctx := c.Request.Context()
	control := http.NewResponseController(c.Writer)
	_ = control.SetWriteDeadline(time.Time{}) // it is set when there is an answer to write
	whole := c.Request.Body
	// Deadlines of connections are told by the system's clock, not by the injected one.
	body := &patientReader{body: whole, extend: func() { _ = control.SetReadDeadline(time.Now().Add(bulkIdle)) }}
	if b.limit > 0 {
		body.body = http.MaxBytesReader(nil, whole, b.limit)
	}
	records := newRecords[Draft](body, b.record)
	result, err := b.store(ctx, records.next)
	if err == nil && records.empty() && c.ContentType() == "application/json" {
		err = skillrouter.Errorf(skillrouter.Invalid, "the body is empty: an array is needed")
	}
	if _, over := errors.AsType[*http.MaxBytesError](err); over {
		err = skillrouter.Wrap(skillrouter.TooLarge, err, "the body is longer than %d bytes: send it in parts", b.limit)
		body.ended = false // of the limit, not of the body
	}
	if err != nil && !body.ended {
		_ = control.SetReadDeadline(time.Now().Add(bulkAnswer))
		_, _ = io.CopyN(io.Discard, whole, bulkDrain) // its end, or its failure, changes nothing
	}
	_ = control.SetWriteDeadline(time.Now().Add(bulkAnswer))
	if err != nil {
		p := s.fail(ctx, err)
		writeProblem(c.Writer, p, b.broken(p, result))
		return
	}
	text, err := json.Marshal(result)
	if err != nil {
		abort(c, s.fail(ctx, err))
		return
	}
	c.Data(http.StatusOK, "application/json", text)
}

// patientReader gives the client more time with each piece that it sends.
type patientReader struct {
	body   io.Reader
	extend func()
	ended  bool // there is no more, or it cannot be had
}

// Read implements io.Reader.
func (r *patientReader) Read(p []byte) (int, error) {
	r.extend()
	n, err := r.body.Read(p)
	r.ended = r.ended || err != nil
	return n, err
}
