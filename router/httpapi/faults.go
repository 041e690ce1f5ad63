package httpapi

import (
	"errors"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"skillrouter"
)

// maxFaults is how many faults a client is told of: a list of thousands of wrong rows would be answered with a longer one.
const maxFaults = 100

// faults gathers what is wrong with a request.
type faults struct {
	at   *huma.PathBuffer
	list *huma.ValidateResult
}

// add notes what is wrong with something, such as query.limit.
func (f *faults) add(location, message string) {
	f.list.Errors = append(f.list.Errors, &huma.ErrorDetail{Location: location, Message: message})
}

// validate holds a value to a schema, and tells whether it is valid.
func (f *faults) validate(p *plan, schema *huma.Schema, value any, path ...string) bool {
	before := len(f.list.Errors)
	f.at.Reset()
	for _, name := range path {
		f.at.Push(name)
	}
	huma.Validate(p.registry, schema, f.at, huma.ModeWriteToServer, value, f.list)
	return len(f.list.Errors) == before
}

// problem is what the client is told of the faults, never with a value that was sent; nil: there is none.
func (f *faults) problem() *Problem {
	if len(f.list.Errors) == 0 {
		return nil
	}
	inOrder(f.list.Errors)
	var fields []FieldProblem
	for _, err := range f.list.Errors[:min(len(f.list.Errors), maxFaults)] {
		if detail, ok := errors.AsType[*huma.ErrorDetail](err); ok {
			fields = append(fields, fieldProblem(detail.Location, detail.Message))
		}
	}
	p := newProblem(skillrouter.Invalid, fields[0].Field, fields[0].Message)
	if len(fields) > 1 {
		p.Errors = fields
	}
	return p
}

// What is wrong with names is found in the order of a map, which is another each time.
const (
	unexpected = "unexpected property" // as huma says it
	unknown    = "unknown query parameter"
)

// inOrder puts names that are not known, where several follow each other, into their order.
func inOrder(list []error) {
	isName := func(err error) bool {
		detail, ok := errors.AsType[*huma.ErrorDetail](err)
		return ok && (detail.Message == unexpected || detail.Message == unknown)
	}
	for len(list) > 0 {
		n := 0
		for n < len(list) && isName(list[n]) {
			n++
		}
		skillrouter.Sort(list[:n], func(a, b error) int {
			return strings.Compare(a.(*huma.ErrorDetail).Location, b.(*huma.ErrorDetail).Location)
		})
		list = list[min(n+1, len(list)):]
	}
}

// fieldProblem names the field as the client spelt it: huma says "body.x" and
// puts the name of a missing property into the message alone.
func fieldProblem(location, message string) FieldProblem {
	if name, fault, ok := strings.Cut(message, memberMark); ok {
		return FieldProblem{Field: name, Message: fault}
	}
	_, field, _ := strings.Cut(location, ".")
	if rest, ok := strings.CutPrefix(message, "expected required property "); ok {
		name := strings.TrimSuffix(rest, " to be present")
		return FieldProblem{Field: strings.TrimPrefix(field+"."+name, "."), Message: "is required"}
	}
	if message == unexpected {
		message = "is no field of this request"
	}
	return FieldProblem{Field: field, Message: message}
}

// memberMark stands between the name and the fault of a memberFault: of an
// error that a format makes, huma keeps the text alone.
const memberMark = "\x00"

// memberFault is what skillrouter.CheckJSON finds wrong with a member of a body.
type memberFault struct{ err error }

// Error implements error.
func (m memberFault) Error() string {
	return skillrouter.FieldOf(m.err) + memberMark + skillrouter.MessageOf(m.err)
}

// errEncoding is what is wrong with a body that is not UTF-8.
var errEncoding = errors.New("the body is not valid UTF-8")
