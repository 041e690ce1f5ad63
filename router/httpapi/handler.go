package httpapi

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gin-gonic/gin"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/operation"
	"github.com/skillrouter/skillrouter/internal/principal"
)

// route is an operation as HTTP offers it. What it takes and answers follows from the types of its method.
type route struct {
	op      *operation.Op
	service reflect.Value // of the interface whose method it is
	inputs  *operation.Inputs
	output  reflect.Type // nil: it answers nothing
	lists   [][]int      // of the output, those that JSON writes even if they are empty
	status  int
	limit   int64        // of the body, in bytes
	body    reflect.Type // nil: it takes none
	bare    bool         // the body may be left out
}

// offer mounts operations of a service, but for those that are answered in shapes of their own.
func (s *Server) offer(service any, list operation.List) {
	for _, op := range list {
		if !op.ByHand {
			s.mount(op, service)
		}
	}
}

// Offer are the routes of a service's operations.
func Offer(list operation.List, service any) Routes {
	return func(s *Server) { s.offer(service, list) }
}

// mount has a service do an operation. A start works nothing out of what follows from types, which takes a tenth of a
// millisecond for each of two hundred operations: a route's first request does, and the document when it is first asked for.
func (s *Server) mount(op *operation.Op, service any) {
	made := sync.OnceValue(func() *route { return newRoute(op, service) })
	s.describe(func(document *huma.OpenAPI) { document.AddOperation(made().described(document.Components.Schemas)) })
	s.engine.Handle(op.Verb, ginText.Replace(op.Path), func(c *gin.Context) { s.serve(c, made()) })
}

// ginText writes the variables of a path as gin does.
var ginText = strings.NewReplacer("{", ":", "}", "")

func newRoute(op *operation.Op, service any) *route {
	r := &route{op: op, service: reflect.ValueOf(service).Convert(op.Of()), inputs: op.Inputs(), output: op.Output(), status: http.StatusOK, limit: MaxBody}
	r.lists, r.limit = operation.Lists(r.output), cmp.Or(op.MaxBody, MaxBody)
	r.body, r.bare = op.Body()
	switch {
	case r.output == nil:
		r.status = http.StatusNoContent
	case op.Made:
		r.status = http.StatusCreated
	}
	return r
}

// serve answers a request of an operation.
func (s *Server) serve(c *gin.Context, r *route) {
	arguments, problem := r.read(c)
	if problem != nil {
		writeTyped(c, problem.Status, problem)
		return
	}
	ctx := c.Request.Context()
	var output reflect.Value
	if r.output != nil {
		output = reflect.New(r.output).Elem()
	}
	if err := r.op.Do(ctx, r.service, arguments, output); err != nil {
		problem := s.fail(ctx, err)
		writeTyped(c, problem.Status, problem)
		return
	}
	if r.output == nil {
		c.Status(r.status)
		return
	}
	operation.FillLists(output, r.lists)
	status := r.status
	if r.op.Made && !r.op.MadeOne(output) {
		status = http.StatusOK
	}
	writeTyped(c, status, output.Addr().Interface())
}

// read makes the arguments of a request. Parameters of the query that are not known are refused before anything else is looked at.
func (r *route) read(c *gin.Context) ([]reflect.Value, *Problem) {
	given := operation.Given{
		Path:  func(name string) (string, error) { return r.segment(c, name) },
		Named: principal.Of(c.Request.Context()).Named,
	}
	if c.Request.URL.RawQuery != "" {
		given.Query = c.Request.URL.Query()
	}
	var faults []error
	for name := range given.Query {
		if !r.inputs.Asks(name) && !r.inputs.Asks(operation.Rest) {
			faults = append(faults, errs.InvalidField(name, "unknown query parameter"))
		}
	}
	if len(faults) > 0 {
		slices.SortFunc(faults, func(a, b error) int { return strings.Compare(errs.FieldOf(a), errs.FieldOf(b)) })
		return nil, problemOfAll(faults)
	}
	var err error
	if r.body != nil {
		if given.Sent, err = receive(c, r.limit); err != nil {
			return nil, problemOf(err)
		}
	}
	arguments := r.inputs.Make()
	unknown, wrong := r.inputs.Read(arguments, given)
	for _, name := range unknown {
		faults = append(faults, errs.InvalidField(name, "is no field of this request"))
	}
	faults = append(faults, wrong...)
	if len(faults) == 0 && r.body != nil && !r.bare && len(given.Sent) == 0 {
		faults = append(faults, errs.Errorf(errs.Invalid, "request body is required"))
	}
	if len(faults) > 0 {
		return nil, problemOfAll(faults)
	}
	return arguments, nil
}

// segment is what stands in the path for a name, decoded as paths are: gin goes by the
// rules of queries, where + is a space, once a path holds an escape that it needs.
func (r *route) segment(c *gin.Context, name string) (string, error) {
	if c.Request.URL.RawPath == "" {
		return c.Param(name), nil
	}
	at := slices.Index(strings.Split(r.op.Path, "/"), "{"+name+"}")
	text, err := url.PathUnescape(strings.Split(c.Request.URL.EscapedPath(), "/")[at])
	if err != nil {
		return "", errors.New("is not percent-encoded as a path is")
	}
	return text, nil
}

// maxFaults is how many faults a client is told of: a request of thousands of wrong names would be answered with a longer one.
const maxFaults = 100

// problemOfAll is what a client is told of all that is wrong with a request.
func problemOfAll(faults []error) *Problem {
	p := problemOf(faults[0])
	if len(faults) == 1 {
		return p
	}
	for _, fault := range faults[:min(len(faults), maxFaults)] {
		p.Errors = append(p.Errors, FieldProblem{Field: errs.FieldOf(fault), Message: errs.MessageOf(fault)})
	}
	return p
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
