package mcpserver

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"skillrouter/internal/errs"
	"skillrouter/internal/operation"
	"skillrouter/internal/safetext"
	"skillrouter/internal/strictjson"
)

// params are what a tool takes. They are worked out once, from the tool's list of names and from what the tags of the
// fields say that its method takes (see operation.Fields). The schema, the reading and the refusals follow.
type params struct {
	arguments []reflect.Type // of the method, behind the context
	list      []param
	actors    []slot            // filled with who acts
	here      map[string][]slot // filled with the caller's project, folder and branch
	schema    *jsonschema.Schema
	record    reflect.Type
}

// param is a parameter of a tool, and the field that its value goes to.
type param struct {
	name string
	slot
}

// slot is a field of one of the method's arguments or, without an index, the argument itself.
type slot struct {
	argument int
	index    []int
}

func (s slot) in(arguments []reflect.Value) reflect.Value {
	if s.index == nil {
		return arguments[s.argument]
	}
	return arguments[s.argument].FieldByIndex(s.index)
}

// words say of a parameter what its field's tags do not say, or say at a length that the list of tools cannot bear. Of
// "a|b" a value is one.
type words map[string]string

// oneOf says that a value is one of these.
func oneOf[T ~string](values ...T) string { return strings.Join(safetext.Strings(values), "|") }

// upTo says in words, in fewer tokens than a bound, how many a call may ask for.
func upTo(most, usual int) string { return fmt.Sprintf("1–%d, default %d", most, usual) }

const whoseMemory = "Whose memory; default \"default\""

// newParams makes the parameters of a method that takes these arguments. names lists them, separated by spaces; one that
// ends in "!" must be given, and "a=b" is the field b by the name a. An argument that is no struct is a parameter by itself; the first names are those of such.
func newParams(arguments []reflect.Type, names string, about words) *params {
	p := &params{arguments: arguments, here: map[string][]slot{}, schema: &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}}}
	var fields []operation.Field
	var owners []int // the argument that each of them is of
	list := strings.Fields(names)
	for i, argument := range arguments {
		if argument.Kind() != reflect.Struct {
			p.add(list[0], slot{argument: i}, operation.Field{Value: reflect.New(argument).Elem(), Min: atLeastZero(argument)}, about)
			list = list[1:]
			continue
		}
		for _, f := range operation.Fields(reflect.New(argument).Interface()) {
			at := slot{i, f.Index}
			if f.Actor {
				p.actors = append(p.actors, at)
			}
			if f.Name == "prefer_project" {
				f.Here = projectParameter
			}
			if f.Here != "" {
				p.here[f.Here] = append(p.here[f.Here], at)
			}
			fields, owners = append(fields, f), append(owners, i)
		}
	}
	for _, name := range list {
		name, field, _ := strings.Cut(name, "=")
		field = cmp.Or(field, strings.TrimSuffix(name, "!"))
		at := slices.IndexFunc(fields, func(f operation.Field) bool { return f.Name == field })
		if at < 0 {
			panic(fmt.Sprintf("%v have no field %s", arguments, field))
		}
		p.add(name, slot{owners[at], fields[at].Index}, fields[at], about)
	}
	p.record = p.asRecord()
	return p
}

// atLeastZero is the bound of a number by which a thing is named.
func atLeastZero(t reflect.Type) *float64 {
	if t.Kind() == reflect.Int64 {
		return new(float64)
	}
	return nil
}

// add is a further parameter.
func (p *params) add(name string, at slot, f operation.Field, about words) {
	name, required := strings.CutSuffix(name, "!")
	property := valueSchema(f.Value.Type())
	property.Minimum, property.Maximum, property.Description = f.Min, f.Max, f.Doc
	switch {
	case f.Doc != "":
	case f.Actor:
		property.Description = "Default: you"
	case f.Here != "":
		property.Description = "Default: yours"
	}
	choices := f.Choices
	if said, ok := about[name]; ok {
		property.Minimum, property.Maximum, property.Description = nil, nil, said
		if strings.Contains(said, "|") {
			property.Description, choices = "", strings.Split(said, "|")
		}
	}
	of := property
	if of.Items != nil {
		of = of.Items
	}
	for _, choice := range choices {
		of.Enum = append(of.Enum, choice)
	}
	if len(choices) > 0 && strings.HasPrefix(property.Description, choices[0]+", ") { // they say it already
		property.Description = ""
	}
	if f.Object {
		property.Type = "object"
	}
	p.schema.Properties[name] = property
	p.schema.PropertyOrder = append(p.schema.PropertyOrder, name)
	if required {
		p.schema.Required = append(p.schema.Required, name)
	}
	p.list = append(p.list, param{name, at})
}

// valueSchema is the schema of a value. That an object takes no other members is left unsaid, because every client reads
// the list of tools into its model's context; read says it to the one who needs to know.
func valueSchema(t reflect.Type) *jsonschema.Schema {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	s := &jsonschema.Schema{Type: typeName(t)}
	if s.Type == "array" {
		s.Items = &jsonschema.Schema{Type: typeName(t.Elem())}
	}
	return s
}

// asRecord is the parameters as one type, by which strictjson.Check checks how names are written. Two parameters of one
// name are a mistake of this program's.
func (p *params) asRecord() reflect.Type {
	fields := make([]reflect.StructField, len(p.list))
	for i, one := range p.list {
		if slices.ContainsFunc(p.list[:i], func(other param) bool { return other.name == one.name }) {
			panic("there are two parameters " + one.name)
		}
		t := p.arguments[one.argument]
		if one.index != nil {
			t = t.FieldByIndex(one.index).Type
		}
		fields[i] = reflect.StructField{Name: fmt.Sprint("Param", i), Type: t, Tag: reflect.StructTag(fmt.Sprintf("json:%q", one.name))}
	}
	return reflect.StructOf(fields)
}

// read reads a call's arguments into those of the method, and fills in where the caller works and who acts. It refuses, by
// name, a parameter that is missing, and one of the wrong type; ranges and choices are the services' to refuse. What
// clients commonly mistake is read as it is meant, see meant. A parameter that is not the tool's is passed over, and named
// in what it returns, or refused if the tool is strict.
func (p *params) read(ctx context.Context, s *Server, raw json.RawMessage, strict bool) (arguments []reflect.Value, passed string, err error) {
	for _, t := range p.arguments {
		arguments = append(arguments, reflect.New(t).Elem())
	}
	for _, parameter := range hereParameters { // what the call says stays, an empty text too
		for _, at := range p.here[parameter] {
			at.in(arguments).SetString(place(ctx, parameter))
		}
	}
	given, passed, err := p.given(raw, strict)
	if err != nil {
		return nil, "", err
	}
	for _, one := range p.list {
		value, ok := given[one.name]
		if !ok {
			continue
		}
		if err := json.Unmarshal(value, one.in(arguments).Addr().Interface()); err != nil {
			wrong, ok := errors.AsType[*json.UnmarshalTypeError](err)
			if !ok {
				return nil, "", errs.Wrap(errs.Invalid, err, "the arguments could not be read")
			}
			got, _, _ := strings.Cut(wrong.Value, " ")
			return nil, "", errs.InvalidField(one.name, "must be %s, not %s", typeNamed(p.schema.Properties[one.name]), article(got))
		}
	}
	for _, project := range p.here[projectParameter] {
		if project.in(arguments).String() != place(ctx, projectParameter) { // nobody knows where in another project the caller is
			for _, at := range append(slices.Clone(p.here["folder"]), p.here["branch"]...) {
				at.in(arguments).SetString("")
			}
		}
	}
	for _, actor := range p.actors { // an agent that the call names stays
		agent := actor.in(arguments)
		agent.SetString(s.actor(ctx, agent.String()))
	}
	return arguments, passed, nil
}

// given is what a call says of each parameter, as it was meant.
func (p *params) given(raw json.RawMessage, strict bool) (given map[string]json.RawMessage, passed string, err error) {
	if trimmed := bytes.TrimSpace(raw); len(trimmed) == 0 || isNull(trimmed) {
		raw = json.RawMessage("{}")
	}
	if err := json.Unmarshal(raw, &given); err != nil {
		return nil, "", errs.InvalidField("arguments", "must be an object of the tool's parameters")
	}
	if err := strictjson.Check(raw, p.record); err != nil {
		return nil, "", err
	}
	for name, value := range given {
		property, known := p.schema.Properties[name]
		if !known {
			passed = max(passed, name)
			delete(given, name)
			continue
		}
		said, ok := meant(value, property)
		switch {
		case !ok && !slices.Contains(p.schema.Required, name):
			delete(given, name)
		case !bytes.Equal(said, value):
			given[name] = said
			one, _ := json.Marshal(map[string]json.RawMessage{name: said}) // what was a text has members of its own
			if err := strictjson.Check(one, p.record); err != nil {
				return nil, "", err
			}
		}
	}
	var unknown error
	if passed != "" {
		unknown = errs.InvalidField(shown(passed), "is no parameter of this tool; it takes %s", strings.Join(p.schema.PropertyOrder, ", "))
		passed = errs.Explain(unknown)
	}
	if strict && unknown != nil {
		return nil, "", unknown
	}
	for _, name := range p.schema.Required {
		if value, ok := given[name]; !ok || isNull(value) {
			return nil, "", cmp.Or[error](unknown, errs.InvalidField(name, "is required"))
		}
	}
	return given, passed, nil
}

// meant is a value as its client means it: some send lists, objects, numbers and truths as texts that hold them, and write an
// empty text or the word null for what they leave out. ok tells whether there is a value at all.
func meant(value json.RawMessage, as *jsonschema.Schema) (said json.RawMessage, ok bool) {
	var text string
	if as.Type == "" || len(value) == 0 || value[0] != '"' || json.Unmarshal(value, &text) != nil {
		return value, true
	}
	text = strings.TrimSpace(text)
	switch {
	case text == "null" || text == "undefined" || text == "None" || text == "" && as.Type != "string":
		return value, false
	case as.Type == "string":
		return value, true
	case as.Type == "boolean":
		text = strings.ToLower(text)
	}
	var held any
	if json.Unmarshal([]byte(text), &held) != nil || held == nil || reflect.TypeOf(held).Kind() == reflect.String {
		return value, true
	}
	return json.RawMessage(text), true
}

func isNull(value json.RawMessage) bool { return bytes.Equal(value, []byte("null")) }

// shown makes a name that the caller chose fit for an error message.
func shown(name string) string {
	const most = 64 // longer than any parameter
	if len(name) > most {
		name = strings.ToValidUTF8(name[:most], "") + "…"
	}
	return visible(name)
}

func typeNamed(s *jsonschema.Schema) string {
	if s.Type == "array" {
		return "an array of " + s.Items.Type + "s"
	}
	return article(s.Type)
}

func article(noun string) string {
	switch noun {
	case "bool":
		noun = "boolean"
	case "":
		return "that"
	}
	if strings.ContainsRune("aeiou", rune(noun[0])) {
		return "an " + noun
	}
	return "a " + noun
}
