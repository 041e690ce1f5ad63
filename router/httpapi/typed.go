package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gin-gonic/gin"
)

// mount mounts a handler. The error that it returns reaches the client through
// problemOf alone.
//
// What huma derives from the types (schemas to validate with, and to describe)
// costs a tenth of a millisecond a route, of which there are two hundred, and
// memory. A start pays for none: each route has a registry of its own, which its
// first request makes, and the document is made when it is first asked for.
func (s *Server) mount(op huma.Operation, h handler) {
	s.mountLater(op, func() handler { return h })
}

// mountLater is mount for a handler that is made when it is first needed.
func (s *Server) mountLater(op huma.Operation, made func() handler) {
	made = sync.OnceValue(made)
	s.describe(func(document *huma.OpenAPI) {
		own := op
		newPlan(&own, made(), document.Components.Schemas)
		document.AddOperation(&own)
	})
	route := sync.OnceValue(func() *plan {
		own := op
		return newPlan(&own, made(), newRegistry())
	})
	path := ginText.Replace(op.Path)
	s.engine.Handle(op.Method, path, func(c *gin.Context) { s.serve(c, route(), made()) })
}

// ginText writes the variables of a path as gin does.
var ginText = strings.NewReplacer("{", ":", "}", "")

// serve answers a request of a typed route.
func (s *Server) serve(c *gin.Context, p *plan, h handler) {
	input, problem := p.read(c)
	if problem != nil {
		writeTyped(c, problem.Status, problem)
		return
	}
	ctx := c.Request.Context()
	output, err := h.call(ctx, input)
	if err != nil {
		problem := s.fail(ctx, err)
		writeTyped(c, problem.Status, problem)
		return
	}
	if h.output == nil {
		c.Status(h.status)
		return
	}
	writeTyped(c, h.statusOf(output), output)
}

// writeTyped answers with JSON, whatever the client says that it accepts: there is nothing else.
func writeTyped(c *gin.Context, status int, body any) {
	contentType := "application/json"
	if status >= http.StatusBadRequest {
		contentType = "application/problem+json"
	}
	c.Header("Content-Type", contentType)
	c.Status(status)
	encoder := json.NewEncoder(c.Writer)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(body)
	switch {
	case err == nil:
	case errors.Is(c.Request.Context().Err(), context.Canceled):
		c.Status(499) // for the log: the client has gone
	default:
		_, _ = c.Writer.WriteString("error marshaling response")
		panic(fmt.Errorf("the answer to %s %s cannot be written: %w", c.Request.Method, c.FullPath(), err))
	}
}

// newRegistry makes a registry of schemas that is empty.
func newRegistry() huma.Registry { return huma.NewMapRegistry("#/components/schemas/", schemaName) }

// describe remembers what to add to the document when it is made.
func (s *Server) describe(add func(document *huma.OpenAPI)) { s.describing = append(s.describing, add) }

// makeDocument describes all that is mounted.
func (s *Server) makeDocument() *huma.OpenAPI {
	document := newDocument(s.options.Version)
	for _, add := range s.describing {
		add(document)
	}
	s.describePlain(document)
	return document
}

// describeAnswers adds a handler's answers to an operation.
func describeAnswers(op *huma.Operation, h handler, registry huma.Registry) {
	good := &huma.Response{Description: http.StatusText(h.status)}
	if h.output != nil {
		schema := registry.Schema(h.output, true, op.OperationID+"Response")
		good.Content = map[string]*huma.MediaType{"application/json": {Schema: schema}}
	}
	op.Responses = map[string]*huma.Response{strconv.Itoa(h.status): good}
	problem := registry.Schema(reflect.TypeFor[Problem](), true, "")
	for _, status := range op.Errors {
		op.Responses[strconv.Itoa(status)] = &huma.Response{
			Description: http.StatusText(status),
			Content:     map[string]*huma.MediaType{"application/problem+json": {Schema: problem}},
		}
	}
}
