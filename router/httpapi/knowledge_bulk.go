package httpapi

import (
	"encoding/json"
	"io"
	"net/http"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gin-gonic/gin"

	"skillrouter"
	"skillrouter/learning"
)

// Bounds of a bulk call. Its length has none: it is stored as it comes in.
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

// bulkProblem is the answer to a bulk call that was broken off: the stream is
// stored as it comes in, and so it also says what was stored.
type bulkProblem struct {
	*Problem
	learning.BulkResult
}

// bulkRoute mounts the bulk call beside huma, which would hold the whole body in memory.
func (s *Server) bulkRoute(knowledge *learning.KnowledgeBase) {
	const path = knowledgePath + "/bulk"
	s.engine.POST(path, func(c *gin.Context) { s.bulk(c, knowledge) })

	op := operation(http.MethodPost, path, "knowledge", "Store many entries, sent as a JSON array or as one JSON object a line")
	op.Description = "The body is stored while it arrives; its length is not bounded, a record's is. Records that are refused are listed and stop nothing. " +
		"If the body is broken off or malformed, or the disk gets full, the problem that is answered also has the counts: what was stored before stays stored."
	registry := s.api.OpenAPI().Components.Schemas
	drafts := registry.Schema(reflect.TypeFor[[]learning.KnowledgeDraft](), true, "Drafts")
	line := registry.Schema(reflect.TypeFor[learning.KnowledgeDraft](), true, "Draft")
	op.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
		"application/json":     {Schema: drafts},
		"application/x-ndjson": {Schema: line},
	}}
	result := registry.Schema(reflect.TypeFor[learning.BulkResult](), true, "Result")
	broken := registry.Schema(reflect.TypeFor[bulkProblem](), true, "BulkProblem")
	op.Responses = map[string]*huma.Response{
		"200":     {Description: "What became of the records", Content: map[string]*huma.MediaType{"application/json": {Schema: result}}},
		"default": {Description: "Broken off", Content: map[string]*huma.MediaType{"application/problem+json": {Schema: broken}}},
	}
	s.api.OpenAPI().AddOperation(&op)
}

func (s *Server) bulk(c *gin.Context, knowledge *learning.KnowledgeBase) {
	ctx := c.Request.Context()
	control := http.NewResponseController(c.Writer)
	_ = control.SetWriteDeadline(time.Time{}) // it is set when there is an answer to write
	// Deadlines of connections are told by the system's clock, not by the injected one.
	body := &patientReader{body: c.Request.Body, extend: func() { _ = control.SetReadDeadline(time.Now().Add(bulkIdle)) }}
	records := newRecords(body)
	result, err := knowledge.Bulk(ctx, records.next)
	if err == nil && records.empty() && c.ContentType() == "application/json" {
		err = skillrouter.Errorf(skillrouter.Invalid, "the body is empty: an array is needed")
	}
	if err != nil && !body.ended {
		_ = control.SetReadDeadline(time.Now().Add(bulkAnswer))
		_, _ = io.CopyN(io.Discard, c.Request.Body, bulkDrain) // its end, or its failure, changes nothing
	}
	_ = control.SetWriteDeadline(time.Now().Add(bulkAnswer))
	if err != nil {
		p := s.fail(ctx, err)
		writeProblem(c.Writer, p, bulkProblem{p, result})
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
