package httpapi

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"skillrouter/internal/errs"
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
	f.within(p.registry, schema, value)
	return len(f.list.Errors) == before
}

// anything is a schema that every value fits.
var anything = &huma.Schema{}

// within holds a value to a schema. It looks at the elements of a long list one after the other and ends at maxFaults: huma
// would write a fault for each of thousands of wrong rows.
func (f *faults) within(registry huma.Registry, schema *huma.Schema, value any) {
	for schema.Ref != "" {
		schema = registry.SchemaFromRef(schema.Ref)
	}
	if long(value) {
		own := *schema // without what is looked at here
		switch v := value.(type) {
		case []any:
			own.Items = anything
			for i := 0; schema.Items != nil && i < len(v) && len(f.list.Errors) < maxFaults; i++ {
				f.at.PushIndex(i)
				f.within(registry, schema.Items, v[i])
				f.at.Pop()
			}
		case map[string]any:
			own.Properties = maps.Clone(schema.Properties)
			for name, member := range schema.Properties {
				if long(v[name]) && len(f.list.Errors) < maxFaults {
					own.Properties[name] = anything
					f.at.Push(name)
					f.within(registry, member, v[name])
					f.at.Pop()
				}
			}
		}
		schema = &own
	}
	if len(f.list.Errors) < maxFaults {
		huma.Validate(registry, schema, f.at, huma.ModeWriteToServer, value, f.list)
	}
}

// long tells whether a value is a list of more than maxFaults elements, or holds one.
func long(value any) bool {
	switch v := value.(type) {
	case []any:
		return len(v) > maxFaults || slices.ContainsFunc(v, long)
	case map[string]any:
		for _, member := range v {
			if long(member) {
				return true
			}
		}
	}
	return false
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
	p := newProblem(errs.Invalid, fields[0].Field, fields[0].Message)
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
		slices.SortFunc(list[:n], func(a, b error) int {
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

// memberFault is what strictjson.Check finds wrong with a member of a body.
type memberFault struct{ err error }

// Error implements error.
func (m memberFault) Error() string {
	return errs.FieldOf(m.err) + memberMark + errs.MessageOf(m.err)
}

// errEncoding is what is wrong with a body that is not UTF-8.
var errEncoding = errors.New("the body is not valid UTF-8")
