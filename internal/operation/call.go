package operation

import (
	"context"
	"fmt"
	"reflect"
	"strings"
)

// inPath tells whether the id is a text or number that stands in the path.
func (op *Op) inPath() bool { return op.id != nil && scalar(op.id) && strings.Contains(op.Path, "{") }

// inQuery tells whether what the method takes is asked for in the query.
func (op *Op) inQuery() bool { return op.Verb == "GET" || op.Verb == "DELETE" }

// idName is how the path names the id.
func (op *Op) idName() string {
	_, name, _ := strings.Cut(op.Path, "{")
	name, _, _ = strings.Cut(name, "}")
	return name
}

// placed are the fields of a struct that stand in the path.
func placed(t reflect.Type) (fields []reflect.StructField) {
	if t != nil && t.Kind() == reflect.Struct {
		for _, field := range reflect.VisibleFields(t) {
			if field.Tag.Get("path") != "" {
				fields = append(fields, field)
			}
		}
	}
	return fields
}

// Body is the type of what is sent, for documents, and whether it may be left out; nil: nothing is sent.
func (op *Op) Body() (body reflect.Type, may bool) {
	body = op.in
	switch {
	case body == nil || op.inQuery():
		return nil, true
	case scalar(body):
		body = reflect.StructOf([]reflect.StructField{{Name: "Value", Type: body, Tag: reflect.StructTag(fmt.Sprintf(`json:"%s,omitempty"`, op.Argument))}})
	case body.Kind() == reflect.Struct:
		var rest []reflect.StructField
		elsewhere := false
		for field := range body.Fields() {
			switch tag := field.Tag; {
			case tag.Get("sent") == "all":
				return field.Type, true
			case tag.Get("path") != "" || tag.Get("query") != "" && tag.Get("json") == "":
				elsewhere = true
			case field.IsExported():
				field.Offset, field.Index = 0, nil
				rest = append(rest, field)
			}
		}
		if elsewhere {
			body = reflect.StructOf(rest)
		}
	}
	return body, op.id != nil || optional(body)
}

// optional tells whether each member of a body may be left out.
func optional(body reflect.Type) bool {
	if body.Kind() != reflect.Struct {
		return false
	}
	for _, field := range reflect.VisibleFields(body) {
		if tag := field.Tag.Get("json"); field.IsExported() && !field.Anonymous && tag != "-" && !strings.Contains(tag, ",omit") {
			return false
		}
	}
	return true
}

// Output is the answer; nil: there is none.
func (op *Op) Output() reflect.Type {
	switch {
	case op.out == nil || op.Member == "" || op.ByHand:
		return op.out
	case op.out.Kind() != reflect.Slice:
		return reflect.StructOf([]reflect.StructField{op.member()})
	}
	return reflect.StructOf([]reflect.StructField{op.member(), {Name: "Count", Type: reflect.TypeFor[int](), Tag: `json:"count" doc:"How many are in this answer"`}})
}

func (op *Op) member() reflect.StructField {
	return reflect.StructField{Name: "Held", Type: op.out, Tag: reflect.StructTag(fmt.Sprintf("json:%q", op.Member))}
}

// Do has a service, a value of the type Of, do the operation with arguments that Inputs.Read made, and puts what it returns into an output.
func (op *Op) Do(ctx context.Context, service reflect.Value, arguments []reflect.Value, output reflect.Value) error {
	// As values of interfaces, and not of what is in them: of that, each call would look whether it has the methods.
	results := op.method.Call(append([]reflect.Value{service, reflect.ValueOf(&ctx).Elem()}, arguments...))
	err, _ := results[len(results)-1].Interface().(error)
	switch {
	case op.out == nil:
	case op.Member == "" || op.ByHand:
		output.Set(results[0])
	default:
		if output.Field(0).Set(results[0]); op.out.Kind() == reflect.Slice {
			output.Field(1).SetInt(int64(results[0].Len()))
		}
	}
	return err
}

// gather makes a struct of the fields that another has by the same name.
func gather(t reflect.Type, from reflect.Value) reflect.Value {
	one := reflect.New(t).Elem()
	for i := range t.NumField() {
		one.Field(i).Set(from.FieldByName(t.Field(i).Name))
	}
	return one
}

// MadeOne tells whether an output is of something that was made.
func (op *Op) MadeOne(output reflect.Value) bool {
	if !op.madeIf.IsValid() {
		return op.Made
	}
	return op.madeIf.Call([]reflect.Value{output})[0].Bool()
}

// Call is what a client sends to have an operation done.
type Call struct {
	IDs    []any // what the names in braces of the path stand for, in their order
	Filter any   // a struct whose fields are asked for in the query; nil: none
	Query  map[string]string
	Body   any // nil: none
}

// Called is the call of an operation with what its method takes: an id, or in, or both, as it takes them.
func (op *Op) Called(arguments ...any) (c Call) {
	places := map[string]any{}
	for _, argument := range arguments {
		value := reflect.ValueOf(argument)
		for _, field := range placed(value.Type()) {
			at := value.FieldByIndex(field.Index)
			places[field.Tag.Get("path")] = at.Interface()
			if standard := field.Tag.Get("default"); at.IsZero() && standard != "" {
				places[field.Tag.Get("path")] = standard
			}
		}
	}
	if op.id != nil {
		id := arguments[0]
		arguments = arguments[1:]
		switch {
		case !scalar(op.id):
		case !op.inPath():
			c.Query = map[string]string{op.Argument: fmt.Sprint(id)}
		case id == "" && op.standsIn != "":
			places[op.idName()] = op.standsIn
		default:
			places[op.idName()] = id
		}
	}
	for _, rest, named := strings.Cut(op.Path, "{"); named; _, rest, named = strings.Cut(rest, "{") {
		name, _, _ := strings.Cut(rest, "}")
		c.IDs = append(c.IDs, places[name])
	}
	if op.in == nil {
		return c
	}
	value := reflect.ValueOf(arguments[0])
	switch {
	case scalar(op.in):
		c.Body = map[string]any{op.Argument: arguments[0]}
	case op.Verb == "GET":
		c.Filter = arguments[0]
	case op.inQuery():
	case len(placed(op.in)) > 0:
		body, _ := op.Body()
		c.Body = withLists(gather(body, value))
	default:
		c.Body = withLists(value)
	}
	return c
}

// withLists is a body whose lists that must be there are, though they are empty: what is wrong with that, the service says.
func withLists(body reflect.Value) any {
	full := reflect.New(body.Type()).Elem()
	full.Set(body)
	FillLists(full, Lists(body.Type()))
	return full.Interface()
}

// Lists finds the lists of a type that JSON writes even if they are empty: the type itself, or members of it.
func Lists(t reflect.Type) (fields [][]int) {
	switch {
	case t == nil:
	case t.Kind() == reflect.Slice:
		fields = append(fields, nil)
	case t.Kind() == reflect.Struct:
		for _, field := range reflect.VisibleFields(t) {
			if field.IsExported() && field.Type.Kind() == reflect.Slice && field.Type.Elem().Kind() != reflect.Uint8 && !strings.Contains(field.Tag.Get("json"), ",omit") {
				fields = append(fields, field.Index)
			}
		}
	}
	return fields
}

// FillLists makes the absent ones of a value's Lists empty, which JSON writes as [].
func FillLists(of reflect.Value, fields [][]int) {
	for _, index := range fields {
		list := of
		if index != nil {
			list = of.FieldByIndex(index)
		}
		if list.IsNil() {
			list.Set(reflect.MakeSlice(list.Type(), 0, 0))
		}
	}
}
