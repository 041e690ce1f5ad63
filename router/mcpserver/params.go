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
	"skillrouter/internal/strictjson"
)

// params are what a tool takes. Of each parameter a tool says once, as with the
// package flag, what it is called, which field its value goes to and what a
// model is told of it. The schema, the reading and the refusals follow.
type params struct {
	list     []param
	actors   []*string // filled with who acts, see actor
	projects []*string // filled with the caller's project, see here
}

type param struct {
	name, about string
	into        any // a pointer to the field
	required    bool
	traits      []trait
}

// trait says more of a parameter than the type of its field does.
type trait func(*jsonschema.Schema)

// may is a parameter that a call may leave out.
func (p *params) may(name string, into any, about string, traits ...trait) {
	p.list = append(p.list, param{name: name, about: about, into: into, traits: traits})
}

// must is a parameter that a call has to give.
func (p *params) must(name string, into any, about string, traits ...trait) {
	p.may(name, into, about, traits...)
	p.list[len(p.list)-1].required = true
}

// described makes the parameters of the fields of In that have these names, as their tags describe them (see operation.Fields),
// in this order. One whose name ends in "!" must be given. Who acts and where is filled in as the tags say, named or not.
func described[In any](names ...string) func(*params, *In) {
	return func(p *params, in *In) { p.fields(in, names) }
}

// describedOne is the same for a change of one thing, after the parameter that names it.
func describedOne[ID, Draft any](id, about string, names ...string) func(*params, *change[ID, Draft]) {
	return func(p *params, c *change[ID, Draft]) {
		name, required := strings.CutSuffix(id, "!")
		one := param{name: name, about: about, into: &c.id, required: required}
		if reflect.TypeFor[ID]().Kind() == reflect.Int64 {
			one.traits = []trait{notNegative}
		}
		p.list = append(p.list, one)
		p.fields(&c.draft, names)
	}
}

func (p *params) fields(in any, names []string) {
	all := operation.Fields(in)
	for _, name := range names {
		name, required := strings.CutSuffix(name, "!")
		at := slices.IndexFunc(all, func(f operation.Field) bool { return f.Name == name })
		if at < 0 {
			panic(fmt.Sprintf("%T has no field %s", in, name))
		}
		f := all[at]
		about := f.Doc
		switch {
		case about != "":
		case f.Actor:
			about = "Default: you"
		case f.Here:
			about = "Default: yours"
		}
		p.list = append(p.list, param{name: name, about: about, into: f.Value.Addr().Interface(), required: required, traits: []trait{func(s *jsonschema.Schema) {
			if s.Minimum, s.Maximum = f.Min, f.Max; f.Object {
				s.Type = "object"
			}
			among(f.Choices...)(s)
		}}})
	}
	for _, f := range all {
		if f.Actor {
			p.actor(f.Value.Addr().Interface().(*string))
		}
		if f.Here {
			p.here(f.Value.Addr().Interface().(*string))
		}
	}
}

// actor is a field for the agent that the call is made for. If the field is a
// parameter too, an agent that the call names stays.
func (p *params) actor(agent *string) { p.actors = append(p.actors, agent) }

// here is a field for the project that the caller works in. If the field is a
// parameter too, what the call says stays, an empty text too.
func (p *params) here(project *string) { p.projects = append(p.projects, project) }

// belongsHere is the parameter by which a call is about another project than the
// caller's; an empty one is none.
func (p *params) belongsHere(project *string) {
	p.may("project", project, "Default: yours")
	p.here(project)
}

// limit is how many things a call may ask for, and how many it gets if it does
// not say; 0: that is left unsaid.
func (p *params) limit(into *int, usual, most int) {
	about := ""
	if usual > 0 {
		about = fmt.Sprint("Default ", usual)
	}
	p.may("limit", into, about, within(1, float64(most)))
}

// within is a number from lo to hi.
func within(lo, hi float64) trait {
	return func(s *jsonschema.Schema) { s.Minimum, s.Maximum = &lo, &hi }
}

// notNegative is a number from 0.
func notNegative(s *jsonschema.Schema) { s.Minimum = new(float64) }

// object is an object whose members the tool's service reads.
func object(s *jsonschema.Schema) { s.Type = "object" }

// among is a text that is one of the values, or a list of some of them.
func among[T ~string](values ...T) trait {
	return func(s *jsonschema.Schema) {
		if s.Items != nil {
			s = s.Items
		}
		for _, v := range values {
			s.Enum = append(s.Enum, string(v))
		}
	}
}

// upTo says in words, in fewer tokens than within, how many a call may ask for:
// for tools that every model reads.
func upTo(most, usual int) string { return fmt.Sprintf("1–%d, default %d", most, usual) }

// schema makes the schema of a tool's input. That it takes no other fields
// is left unsaid, because every client reads the tool list into its model's
// context; read says it to the one who needs to know.
func (p *params) schema() *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}}
	for _, one := range p.list {
		t := one.field()
		if t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		property := &jsonschema.Schema{Type: typeName(t), Description: one.about}
		if property.Type == "array" {
			property.Items = &jsonschema.Schema{Type: typeName(t.Elem())}
		}
		for _, more := range one.traits {
			more(property)
		}
		s.Properties[one.name] = property
		s.PropertyOrder = append(s.PropertyOrder, one.name)
		if one.required {
			s.Required = append(s.Required, one.name)
		}
	}
	return s
}

// field is the type of the field that the value goes to.
func (p param) field() reflect.Type { return reflect.TypeOf(p.into).Elem() }

// record is the parameters as one type, by which strictjson.Check checks how
// names are written. Two parameters of one name or one field are a mistake of this program's, and so is one
// that is bound to a whole struct: an embedded type hides a field that has its name.
func (p *params) record() reflect.Type {
	fields := make([]reflect.StructField, len(p.list))
	for i, one := range p.list {
		for _, other := range p.list[:i] {
			if other.name == one.name || other.into == one.into {
				panic("the parameters " + other.name + " and " + one.name + " are one")
			}
		}
		if t := one.field(); typeName(t) == "object" && t.Kind() == reflect.Struct {
			panic("the parameter " + one.name + " is bound to " + t.String() + ", and not to a field of it")
		}
		fields[i] = reflect.StructField{Name: fmt.Sprint("Param", i), Type: one.field(), Tag: reflect.StructTag(fmt.Sprintf("json:%q", one.name))}
	}
	return reflect.StructOf(fields)
}

// read reads a call's arguments into the fields. It refuses, by name, a parameter that is missing, and one of the wrong
// type; ranges and choices are the services' to refuse. What clients commonly mistake is read as it is meant, see meant.
// A parameter that is not the tool's is passed over, and named in what it returns, or refused if the tool is strict.
func (p *params) read(raw json.RawMessage, schema *jsonschema.Schema, record reflect.Type, strict bool) (passed string, err error) {
	if trimmed := bytes.TrimSpace(raw); len(trimmed) == 0 || isNull(trimmed) {
		raw = json.RawMessage("{}")
	}
	var given map[string]json.RawMessage
	if err := json.Unmarshal(raw, &given); err != nil {
		return "", errs.InvalidField("arguments", "must be an object of the tool's parameters")
	}
	if err := strictjson.Check(raw, record); err != nil {
		return "", err
	}
	for name, value := range given {
		property, known := schema.Properties[name]
		if !known {
			passed = max(passed, name)
			delete(given, name)
			continue
		}
		said, ok := meant(value, property)
		switch {
		case !ok && !slices.Contains(schema.Required, name):
			delete(given, name)
		case !bytes.Equal(said, value):
			given[name] = said
			one, _ := json.Marshal(map[string]json.RawMessage{name: said}) // what was a text has members of its own
			if err := strictjson.Check(one, record); err != nil {
				return "", err
			}
		}
	}
	var unknown error
	if passed != "" {
		unknown = errs.InvalidField(shown(passed), "is no parameter of this tool; it takes %s", strings.Join(schema.PropertyOrder, ", "))
		passed = errs.Explain(unknown)
	}
	if strict && unknown != nil {
		return "", unknown
	}
	for _, name := range schema.Required {
		if value, ok := given[name]; !ok || isNull(value) {
			return "", cmp.Or[error](unknown, errs.InvalidField(name, "is required"))
		}
	}
	for _, one := range p.list {
		value, ok := given[one.name]
		if !ok {
			continue
		}
		if err := json.Unmarshal(value, one.into); err != nil {
			wrong, ok := errors.AsType[*json.UnmarshalTypeError](err)
			if !ok {
				return "", errs.Wrap(errs.Invalid, err, "the arguments could not be read")
			}
			got, _, _ := strings.Cut(wrong.Value, " ")
			return "", errs.InvalidField(one.name, "must be %s, not %s", typeNamed(schema.Properties[one.name]), article(got))
		}
	}
	return passed, nil
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

// stand fills in where the caller works, before the call is read.
func (p *params) stand(ctx context.Context, s *Server) {
	for _, project := range p.projects {
		*project = place(ctx)
	}
}

// act fills in who acts.
func (p *params) act(ctx context.Context, s *Server) {
	for _, agent := range p.actors {
		*agent = s.actor(ctx, *agent)
	}
}

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

// What several tools say of their parameters.
const (
	whoseMemory = "Whose memory; default \"default\""
	nextPage    = "The next of the page before"
)
