package mcpserver

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/operation"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/internal/safetext"
	"github.com/skillrouter/skillrouter/internal/strictjson"
)

// params are what a tool takes. They are worked out once, from the tool's list of names and from what the tags of the
// fields say that its method takes (see operation.Fields). The schema, the reading and the refusals follow.
type params struct {
	inputs *operation.Inputs
	actors []operation.Input            // filled with who acts
	here   map[string][]operation.Input // filled with the caller's project, folder and branch
	schema *jsonschema.Schema
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
	p := &params{here: map[string][]operation.Input{}, schema: &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}}}
	var fields, taken []operation.Input
	list := strings.Fields(names)
	for i, argument := range arguments {
		value := reflect.New(argument)
		if argument.Kind() != reflect.Struct {
			taken = append(taken, p.add(list[0], operation.Input{Field: operation.Field{Value: value.Elem()}, Argument: i}, about))
			list = list[1:]
			continue
		}
		for _, f := range operation.Fields(value.Interface()) {
			one := operation.Input{Field: f, Argument: i}
			if f.Actor {
				p.actors = append(p.actors, one)
			}
			if f.Name == "prefer_project" {
				f.Here = projectParameter
			}
			if f.Here != "" {
				p.here[f.Here] = append(p.here[f.Here], one)
			}
			fields = append(fields, one)
		}
	}
	for _, name := range list {
		name, field, _ := strings.Cut(name, "=")
		field = cmp.Or(field, strings.TrimSuffix(name, "!"))
		at := slices.IndexFunc(fields, func(f operation.Input) bool { return f.Name == field })
		if at < 0 {
			panic(fmt.Sprintf("%v have no field %s", arguments, field))
		}
		taken = append(taken, p.add(name, fields[at], about))
	}
	p.inputs = operation.NewInputs(arguments, taken)
	return p
}

// add is a further parameter.
func (p *params) add(name string, f operation.Input, about words) operation.Input {
	f.Name, f.Required = strings.CutSuffix(name, "!")
	property := valueSchema(f.Value.Type())
	property.Minimum, property.Maximum, property.Description = f.Min, f.Max, f.Doc
	switch {
	case f.Value.Kind() == reflect.Int64 && f.Index == nil: // the number of a thing
		property.Minimum = new(float64)
	case f.Doc != "":
	case f.Actor:
		property.Description = "Default: you"
	case f.Here != "":
		property.Description = "Default: yours"
	}
	choices := f.Choices
	if said, ok := about[f.Name]; ok {
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
	p.schema.Properties[f.Name] = property
	p.schema.PropertyOrder = append(p.schema.PropertyOrder, f.Name)
	if f.Required {
		p.schema.Required = append(p.schema.Required, f.Name)
	}
	return f
}

// valueSchema is the schema of a value. That an object takes no other members is left unsaid, because every client reads
// the list of tools into its model's context; read says it to the one who needs to know.
func valueSchema(t reflect.Type) *jsonschema.Schema {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	s := &jsonschema.Schema{Type: operation.JSONType(t)}
	if s.Type == "array" {
		s.Items = &jsonschema.Schema{Type: operation.JSONType(t.Elem())}
	}
	return s
}

// read reads a call's arguments into those of the method, and fills in where the caller works and who acts. What clients
// commonly mistake is read as it is meant. A parameter that is not the tool's is passed over, and named in what it returns, or
// refused if the tool is strict or another one is missing.
func (p *params) read(ctx context.Context, s *Server, raw json.RawMessage, strict bool) (arguments []reflect.Value, passed string, err error) {
	switch trimmed := bytes.TrimSpace(raw); {
	case len(trimmed) == 0 || string(trimmed) == "null":
		raw = json.RawMessage("{}")
	case trimmed[0] != '{':
		return nil, "", errs.InvalidField("arguments", "must be an object of the tool's parameters")
	}
	arguments = p.inputs.Make()
	for _, parameter := range hereParameters { // what the call says stays, an empty text too
		for _, one := range p.here[parameter] {
			one.In(arguments).SetString(place(ctx, parameter))
		}
	}
	unknown, faults := p.inputs.Read(arguments, operation.Given{Sent: raw, Meant: true, Named: principal.Of(ctx).Named})
	if len(unknown) > 0 {
		wrong := errs.InvalidField(shown(slices.Max(unknown)), "is no parameter of this tool; it takes %s", strings.Join(p.schema.PropertyOrder, ", "))
		if passed = errs.Explain(wrong); strict || len(faults) > 0 && errs.MessageOf(faults[0]) == operation.IsRequired {
			return nil, "", wrong
		}
	}
	if len(faults) > 0 {
		return nil, "", faults[0]
	}
	for _, project := range p.here[projectParameter] {
		if project.In(arguments).String() != place(ctx, projectParameter) { // nobody knows where in another project the caller is
			for _, one := range append(slices.Clone(p.here["folder"]), p.here["branch"]...) {
				one.In(arguments).SetString("")
			}
		}
	}
	for _, actor := range p.actors { // an agent that the call names stays
		agent := actor.In(arguments)
		agent.SetString(s.actor(ctx, agent.String()))
	}
	return arguments, passed, nil
}

// shown makes a name that the caller chose fit for an error message.
func shown(name string) string {
	const most = 64 // longer than any parameter
	return visible(check.Clip(name, most))
}

// answerSchema is the schema of an answer, as far as a listing can bear it: the
// fields that are always there, with their types. A field that the answer may
// leave out, or does not have, is none: naming one is a mistake of this program's.
func answerSchema(answer reflect.Type, always []string) *jsonschema.Schema {
	schema := &jsonschema.Schema{Type: "object", Required: always}
	if len(always) == 0 {
		return schema
	}
	schema.Properties = map[string]*jsonschema.Schema{}
	for _, member := range strictjson.Members(answer) {
		if slices.Contains(always, member.Name) && !strings.Contains(member.Options, "omit") {
			property := &jsonschema.Schema{Type: operation.JSONType(member.Type)}
			if property.Type == "" { // without anything in it, the schema would be true, which the official client refuses
				property.Description = "any JSON"
			}
			schema.Properties[member.Name] = property
		}
	}
	for _, name := range always {
		if schema.Properties[name] == nil {
			panic("the answer " + answer.String() + " has no field " + name + " that is always there")
		}
	}
	return schema
}

// brief is the schema of an answer without saying that its fields are always
// there: their names and types alone.
func brief(schema *jsonschema.Schema) *jsonschema.Schema {
	return &jsonschema.Schema{Type: schema.Type, Properties: schema.Properties}
}
