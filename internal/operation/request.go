package operation

import (
	"context"
	"fmt"
	"reflect"
	"strings"
)

// A request gives what a method takes in three places. What the path names in braces is an id, or the fields whose tag path
// says so. What is asked or deleted takes the rest from the query, and everything else from the body.

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

// Input is what a request gives, as a struct: the tags path and query name what its address holds, and the field Body is
// its body. A body is a pointer, and may be left out, if there is an id or if each of its members may be left out.
func (op *Op) Input() reflect.Type {
	if op.in != nil && op.Verb == "GET" {
		return op.in
	}
	var fields []reflect.StructField
	add := func(name string, t reflect.Type, tag string, args ...any) {
		fields = append(fields, reflect.StructField{Name: name, Type: t, Tag: reflect.StructTag(fmt.Sprintf(tag, args...))})
	}
	switch {
	case op.inPath():
		add("ID", op.id, `path:%q doc:%q`, op.idName(), op.About)
	case op.id != nil && scalar(op.id) && op.inQuery():
		add("ID", op.id, `query:%q required:"%t" doc:%q`, op.Argument, op.Required, op.About)
	}
	for _, t := range []reflect.Type{op.id, op.in} {
		for _, field := range placed(t) {
			add(field.Name, field.Type, `path:%q doc:%q`, field.Tag.Get("path"), field.Tag.Get("doc"))
		}
	}
	if op.explains() {
		add("Explain", reflect.TypeFor[bool](), `query:"explain" doc:"Say why each result was found"`)
	}
	if op.in != nil && !op.inQuery() {
		body, may := op.body()
		if may {
			body = reflect.PointerTo(body)
		}
		add("Body", body, "")
	}
	return reflect.StructOf(fields)
}

// body is the type of the body, and whether it may be left out.
func (op *Op) body() (body reflect.Type, may bool) {
	body = op.in
	switch {
	case scalar(body):
		body = reflect.StructOf([]reflect.StructField{{Name: "Value", Type: body, Tag: reflect.StructTag(fmt.Sprintf(`json:"%s,omitempty"`, op.Argument))}})
	case len(placed(body)) > 0:
		var rest []reflect.StructField
		for field := range body.Fields() {
			if field.Tag.Get("path") == "" && field.IsExported() {
				field.Offset, field.Index = 0, nil
				rest = append(rest, field)
			}
		}
		body = reflect.StructOf(rest)
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

// explains tells whether a search that is sent may be asked for its reasons in the query too, by who searches with curl.
func (op *Op) explains() bool {
	if op.in == nil || op.in.Kind() != reflect.Struct || op.inQuery() {
		return false
	}
	field, there := op.in.FieldByName("Explain")
	return there && field.Type.Kind() == reflect.Bool
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

// By has a service do the operation. do takes a pointer to an input, and returns one to an output, or nil. What follows
// from types is worked out once.
func (op *Op) By(service any) (input, output reflect.Type, do func(ctx context.Context, input any) (any, error)) {
	input, output = op.Input(), op.Output()
	asker := reflect.ValueOf(service)
	var take []func(in reflect.Value) reflect.Value // the arguments behind the context
	switch {
	case op.id == nil:
	case scalar(op.id):
		take = append(take, func(in reflect.Value) reflect.Value { return in.FieldByName("ID") })
	default:
		take = append(take, gather(op.id, input))
	}
	switch {
	case op.in == nil:
	case op.Verb == "GET":
		take = append(take, func(in reflect.Value) reflect.Value { return in })
	case op.inQuery():
		take = append(take, gather(op.in, input)) // of what is deleted, the path alone says which
	default:
		take = append(take, op.sent(input))
	}
	return input, output, func(ctx context.Context, input any) (any, error) {
		arguments := []reflect.Value{asker, reflect.ValueOf(ctx)}
		for _, one := range take {
			arguments = append(arguments, one(reflect.ValueOf(input).Elem()))
		}
		results := op.method.Call(arguments)
		err, _ := results[len(results)-1].Interface().(error)
		if op.out == nil {
			return nil, err
		}
		answer := reflect.New(output)
		held := answer.Elem()
		if op.Member != "" && !op.ByHand {
			held = held.Field(0)
			if op.out.Kind() == reflect.Slice {
				answer.Elem().Field(1).SetInt(int64(results[0].Len()))
			}
		}
		held.Set(results[0])
		return answer.Interface(), err
	}
}

// gather makes a struct of the fields that another has by the same name.
func gather(t, from reflect.Type) func(from reflect.Value) reflect.Value {
	at := map[int][]int{}
	for i := range t.NumField() {
		if field, there := from.FieldByName(t.Field(i).Name); there && t.Field(i).IsExported() {
			at[i] = field.Index
		}
	}
	return func(from reflect.Value) reflect.Value {
		one := reflect.New(t).Elem()
		for i, index := range at {
			one.Field(i).Set(from.FieldByIndex(index))
		}
		return one
	}
}

// sent takes from an input what its body says.
func (op *Op) sent(input reflect.Type) func(in reflect.Value) reflect.Value {
	bare, _ := op.body()
	body := func(in reflect.Value) reflect.Value {
		if body := reflect.Indirect(in.FieldByName("Body")); body.IsValid() {
			return body
		}
		return reflect.New(bare).Elem()
	}
	explains := op.explains()
	switch {
	case scalar(op.in):
		return func(in reflect.Value) reflect.Value { return body(in).Field(0) }
	case len(placed(op.in)) > 0:
		said, places := gather(op.in, bare), placed(op.in)
		return func(in reflect.Value) reflect.Value {
			whole := said(body(in))
			for _, place := range places {
				whole.FieldByIndex(place.Index).Set(in.FieldByName(place.Name))
			}
			return whole
		}
	}
	return func(in reflect.Value) reflect.Value {
		asked := body(in)
		if explains && in.FieldByName("Explain").Bool() {
			asked.FieldByName("Explain").SetBool(true)
		}
		return asked
	}
}

// MadeOne tells whether an output, by its pointer, is of something that was made.
func (op *Op) MadeOne(output any) bool {
	if !op.madeIf.IsValid() {
		return op.Made
	}
	return op.madeIf.Call([]reflect.Value{reflect.ValueOf(output).Elem()})[0].Bool()
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
	case value.Kind() == reflect.Slice && value.IsNil():
		c.Body = []any{}
	case len(placed(op.in)) > 0:
		body, _ := op.body()
		c.Body = withLists(gather(body, op.in)(value))
	default:
		c.Body = withLists(value)
	}
	return c
}

// withLists is a body whose lists that must be there are, though they are empty: what is wrong with that, the service says.
func withLists(body reflect.Value) any {
	if body.Kind() != reflect.Struct {
		return body.Interface()
	}
	whole := reflect.New(body.Type()).Elem()
	whole.Set(body)
	for i := range body.NumField() {
		field, value := body.Type().Field(i), whole.Field(i)
		if field.IsExported() && value.Kind() == reflect.Slice && value.IsNil() && field.Type.Elem().Kind() != reflect.Uint8 && !strings.Contains(field.Tag.Get("json"), ",omit") {
			value.Set(reflect.MakeSlice(field.Type, 0, 0))
		}
	}
	return whole.Interface()
}
