package httpapi

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gin-gonic/gin"

	"skillrouter/internal/errs"
	"skillrouter/internal/strictjson"
)

// maxPooledBody is the longest buffer that is kept for the next body, in bytes.
const maxPooledBody = 1 << 20

// bodies are buffers for bodies, for as long as they are decoded.
var bodies = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// body is the field of an input that the body of a request gives.
type body struct {
	field    reflect.StructField
	required bool
	limit    int64 // in bytes
	schema   *huma.Schema
}

// newBody plans the body, and describes it in op.
func newBody(op *huma.Operation, h handler, field reflect.StructField, registry huma.Registry) *body {
	hint := op.OperationID + "Request"
	if h.input.Name() != "" {
		hint = h.input.Name() + field.Name
	}
	b := &body{field: field, required: field.Type.Kind() != reflect.Pointer, limit: h.limit, schema: huma.SchemaFromField(registry, field, hint)}
	b.schema.PrecomputeMessages()
	op.RequestBody = &huma.RequestBody{Required: b.required, Content: map[string]*huma.MediaType{"application/json": {Schema: b.schema}}}
	return b
}

// read sets the field of an input to what the body of a request says.
func (b *body) read(c *gin.Context, p *plan, input reflect.Value, found *faults) *Problem {
	_ = http.NewResponseController(c.Writer).SetReadDeadline(time.Now().Add(BodyTimeout)) // of the system's clock, as all deadlines of connections
	buffer := bodies.Get().(*bytes.Buffer)
	defer func() {
		if buffer.Cap() <= maxPooledBody {
			bodies.Put(buffer)
		}
	}()
	buffer.Reset()
	from := c.Request.Body
	switch encoding := strings.ToLower(c.GetHeader("Content-Encoding")); encoding {
	case "", "identity":
	case "gzip":
		unpacked, err := gzip.NewReader(from)
		if err != nil {
			return newProblem(errs.Invalid, "", "the body is not gzip, as its Content-Encoding says")
		}
		from = unpacked
	default:
		return newProblem(errs.Invalid, "", "the Content-Encoding of the body may be gzip, or left out")
	}
	if problem := b.receive(from, buffer); problem != nil {
		return problem
	}
	if buffer.Len() == 0 {
		if b.required && found.problem() == nil {
			return newProblem(errs.Invalid, "", "request body is required")
		}
		return nil
	}
	if kind := c.GetHeader("Content-Type"); kind != "" && c.ContentType() != "application/json" {
		found.add("body", "unknown content type: "+kind)
		return nil
	}
	text := bytes.TrimPrefix(buffer.Bytes(), []byte("\ufeff")) // which some shells write before what they send
	if err := strictjson.CheckCrowd(text); err != nil {
		return problemOf(err)
	}
	b.decode(text, p, input, found)
	return nil
}

// receive reads the text of a body.
func (b *body) receive(from io.ReadCloser, into *bytes.Buffer) *Problem {
	defer from.Close()
	_, packed := from.(*gzip.Reader)
	n, err := io.Copy(into, io.LimitReader(from, b.limit))
	timeout, slow := errors.AsType[net.Error](err)
	switch {
	case n == b.limit:
		return newProblem(errs.TooLarge, "", fmt.Sprintf("request body is too large limit=%d bytes", b.limit))
	case slow && timeout.Timeout():
		return newProblem(errs.Unavailable, "", "request body read timeout")
	case err != nil && packed:
		return newProblem(errs.Invalid, "", "the body is not gzip to its end, as its Content-Encoding says")
	case err != nil:
		return problemOf(err)
	}
	return nil
}

// decode holds a body to its schema and then decodes it.
func (b *body) decode(text []byte, p *plan, input reflect.Value, found *faults) {
	document, err := b.parse(text)
	if err != nil {
		found.add("body", err.Error())
		return
	}
	if !found.validate(p, b.schema, document, "body") {
		return
	}
	if err := json.Unmarshal(text, input.FieldByIndex(b.field.Index).Addr().Interface()); err != nil {
		found.add("body", err.Error())
	}
}

// parse reads a body as it is validated. It refuses what strictjson.Check
// does, and bytes that are not UTF-8, which encoding/json would replace: the text that is stored
// were not the one that was sent. A member that is null is validated as one
// that is not there: clients in Python and TypeScript send all that they do not know as null.
func (b *body) parse(text []byte) (document any, err error) {
	if !utf8.Valid(text) {
		return nil, errEncoding
	}
	if err := json.Unmarshal(text, &document); err != nil {
		return nil, err
	}
	if b.field.Type != reflect.TypeFor[*ToolArguments]() { // each tool looks at its own
		if fault := strictjson.Check(text, b.field.Type); fault != nil {
			return nil, memberFault{fault}
		}
	}
	dropNulls(document)
	return document, nil
}

// dropNulls takes the members that are null out of the objects of a document.
func dropNulls(document any) {
	switch v := document.(type) {
	case map[string]any:
		for name, member := range v {
			if member == nil {
				delete(v, name)
			} else {
				dropNulls(member)
			}
		}
	case []any:
		for _, element := range v {
			dropNulls(element)
		}
	}
}
