package httpapi

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gin-gonic/gin"

	"skillrouter/internal/operation"
	"skillrouter/internal/strictjson"
)

// plan is how a request becomes a handler's input. It is made once a route, by the
// tags of the input's fields, of which path and query name parameters, and by the
// field Body, which is decoded from JSON. A body whose field is a pointer may be
// left out. Schemas, which say what is valid, are huma's.
type plan struct {
	open       bool // see handler
	input      reflect.Type
	registry   huma.Registry
	parameters []parameter
	queries    []string // the names that a query may have
	body       *body    // nil: the input has none
}

// parameter is a field of an input that the address gives.
type parameter struct {
	field    []int
	in, name string
	location string // how it is named where it is at fault, such as query.limit
	segment  int    // of a parameter in the path: which of its segments it is
	required bool   // what it is without is refused
	schema   *huma.Schema
}

// resolver is an input that reads more of a request than its tags say.
type resolver interface {
	// resolve returns what is wrong with the request, or nil.
	resolve(address *url.URL) *huma.ErrorDetail
}

// newPlan makes the plan of a handler, and describes it in op.
func newPlan(op *huma.Operation, h handler, registry huma.Registry) *plan {
	p := &plan{open: h.open, input: h.input, registry: registry}
	for _, field := range reflect.VisibleFields(h.input) {
		one := parameter{field: field.Index, in: "path", name: field.Tag.Get("path"), required: true}
		if one.name == "" {
			one.in, one.name, one.required = "query", strictjson.QueryName(field), field.Tag.Get("required") == "true"
		}
		if one.name == "" {
			continue
		}
		one.location = one.in + "." + one.name
		if field.Type == reflect.TypeFor[*bool]() { // described, and checked, as the text that it is
			field.Type = reflect.TypeFor[string]()
		}
		if one.in == "path" && h.about != "" {
			field.Tag = reflect.StructTag(fmt.Sprintf("path:%q doc:%q", one.name, h.about))
		}
		one.schema = huma.SchemaFromField(registry, field, "")
		if one.in == "path" {
			one.segment = slices.Index(strings.Split(op.Path, "/"), "{"+one.name+"}")
		} else {
			p.queries = append(p.queries, one.name)
		}
		p.parameters = append(p.parameters, one)
	}
	slices.SortStableFunc(p.parameters, func(a, b parameter) int { return strings.Compare(a.in, b.in) })
	p.describeParameters(op)
	if field, ok := h.input.FieldByName("Body"); ok {
		p.body = newBody(op, h, field, registry)
	}
	if len(op.Errors) > 0 {
		op.Errors = slices.Clone(op.Errors)
		if len(p.parameters) > 0 || p.body != nil {
			op.Errors = append(op.Errors, http.StatusUnprocessableEntity)
		}
		op.Errors = append(op.Errors, http.StatusInternalServerError)
	}
	describeAnswers(op, h, registry)
	return p
}

func (p *plan) describeParameters(op *huma.Operation) {
	op.Parameters = slices.Clone(op.Parameters)
	for _, one := range p.parameters {
		described := &huma.Param{Name: one.name, In: one.in, Required: one.required, Description: one.schema.Description, Schema: one.schema}
		if one.in == "query" {
			described.Explode = new(bool) // lists are separated by commas
		}
		op.Parameters = append(op.Parameters, described)
	}
}

// read makes the input of a request.
func (p *plan) read(c *gin.Context) (input any, problem *Problem) {
	made := reflect.New(p.input)
	found := &faults{huma.NewPathBuffer(make([]byte, 0, 64), 0), &huma.ValidateResult{}}
	if problem := p.readParameters(c, made.Elem(), found); problem != nil {
		return nil, problem
	}
	if p.body != nil {
		if problem := p.body.read(c, p, made.Elem(), found); problem != nil {
			return nil, problem
		}
	}
	input = made.Interface()
	if more, ok := input.(resolver); ok {
		if fault := more.resolve(c.Request.URL); fault != nil {
			found.list.Errors = append(found.list.Errors, fault)
		}
	}
	return input, found.problem()
}

// readParameters sets the fields that the address gives. Names that are not known are refused at once.
func (p *plan) readParameters(c *gin.Context, input reflect.Value, found *faults) *Problem {
	var query url.Values
	if c.Request.URL.RawQuery != "" {
		query = c.Request.URL.Query()
	}
	if !p.open {
		for name := range query {
			if !slices.Contains(p.queries, name) {
				found.add("query."+name, unknown)
			}
		}
		if problem := found.problem(); problem != nil {
			return problem
		}
	}
	for i := range p.parameters {
		one := &p.parameters[i]
		if err := p.readParameter(c, one, query, input, found); err != nil {
			found.add(one.location, err.Error())
		}
	}
	return nil
}

// readParameter sets the field of a parameter. What its schema finds is among found, any other fault is returned.
func (p *plan) readParameter(c *gin.Context, one *parameter, query url.Values, input reflect.Value, found *faults) (err error) {
	text := query.Get(one.name)
	if one.in == "path" {
		if text, err = pathSegment(c, one); err != nil {
			return err
		}
	}
	if text == "" {
		if one.required && !p.open {
			return errors.New("is required")
		}
		return nil
	}
	value, err := operation.Set(input.FieldByIndex(one.field), text)
	if err == nil && !p.open {
		found.validate(p, one.schema, value, one.in, one.name)
	}
	return err
}

// pathSegment is a parameter in the path, decoded as paths are: gin goes by the
// rules of queries, where + is a space, once a path holds an escape that it needs.
func pathSegment(c *gin.Context, one *parameter) (string, error) {
	if c.Request.URL.RawPath == "" {
		return c.Param(one.name), nil
	}
	text, err := url.PathUnescape(strings.Split(c.Request.URL.EscapedPath(), "/")[one.segment])
	if err != nil {
		return "", errors.New("is not percent-encoded as a path is")
	}
	return text, nil
}
