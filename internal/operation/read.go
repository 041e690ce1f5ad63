package operation

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"math"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/strictjson"
)

// A call gives what a method takes in up to three places: the path of its address names things, the query asks, and what is
// sent is JSON. The arguments of a tool are such JSON too. All of it is read and checked here, for every door.

// Source is where a call gives an input.
type Source int

// The sources.
const (
	Member Source = iota // of the object that is sent
	Path
	Query
	Body // it is all that is sent
)

// Rest is the name of the input that gathers the parameters of a query that are no other's.
const Rest = "*"

// IsRequired is what is said of what is missing.
const IsRequired = "is required"

// Input is a field of what a method takes, or an argument by itself, and where a call gives it.
type Input struct {
	Field
	From     Source
	Asked    bool // a member of what is sent that may be asked for in the query instead
	Required bool
	Argument int    // which of those behind the context it is, or is of
	JSON     string // its type there; empty: any
}

// In is the place of the input among the arguments of a method.
func (one *Input) In(arguments []reflect.Value) reflect.Value {
	if one.Index == nil {
		return arguments[one.Argument]
	}
	return arguments[one.Argument].FieldByIndex(one.Index)
}

// Inputs are those of a method. They are worked out once.
type Inputs struct {
	Types  []reflect.Type // of the method's arguments behind the context
	List   []Input
	record reflect.Type // what is sent as one type, by which strictjson checks how names are written
	single bool         // it is one input
}

// NewInputs are the inputs of a method that takes these types. Two members of one name are a mistake of this program.
func NewInputs(types []reflect.Type, list []Input) *Inputs {
	in := &Inputs{Types: types, List: list}
	var members []reflect.StructField
	for i := range list {
		one := &list[i]
		if one.JSON = JSONType(pointed(one.Value.Type())); one.Object {
			one.JSON = "object"
		}
		switch {
		case one.From == Body:
			in.record, in.single = one.Value.Type(), true
		case one.From != Member:
		case in.member(one.Name) != one:
			panic("there are two inputs " + one.Name)
		default:
			members = append(members, reflect.StructField{
				Name: "Member" + strconv.Itoa(i), Type: one.Value.Type(), Tag: reflect.StructTag(`json:` + strconv.Quote(one.Name)),
			})
		}
	}
	if !in.single {
		in.record = reflect.StructOf(members)
	}
	return in
}

// Inputs are what HTTP gives the operation. What its path names in braces is an id, or the fields whose tag path says so. What
// is asked or deleted takes the rest from the query, and everything else from what is sent.
func (op *Op) Inputs() *Inputs {
	types, _ := op.Types()
	var list []Input
	for i, t := range types {
		value := reflect.New(t).Elem()
		switch names := op.id != nil && i == 0; {
		case t.Kind() == reflect.Struct:
			for _, f := range Fields(value.Addr().Interface()) {
				if one := (Input{Field: f, Argument: i}); op.gives(&one, names) {
					list = append(list, one)
				}
			}
		case names && op.inPath():
			list = append(list, Input{Field: Field{Name: op.idName(), Doc: op.About, Value: value}, From: Path, Required: true, Argument: i})
		case op.inQuery():
			list = append(list, Input{Field: Field{Name: op.Argument, Doc: op.About, Value: value}, From: Query, Required: op.Required, Argument: i})
		case scalar(t):
			list = append(list, Input{Field: Field{Name: op.Argument, Value: value}, Argument: i})
		default:
			list = append(list, Input{Field: Field{Value: value}, From: Body, Argument: i})
		}
	}
	return NewInputs(types, list)
}

// gives says where a request gives a field, and tells whether it does at all. names: the field is of what names a thing, of
// which the path alone counts.
func (op *Op) gives(one *Input, names bool) bool {
	name, options, _ := strings.Cut(one.Tag.Get("json"), ",")
	switch path := one.Tag.Get("path"); {
	case path != "":
		one.Name, one.From, one.Required = path, Path, true
	case names || op.Verb == "DELETE":
		return false
	case one.Tag.Get("sent") == "all":
		one.From = Body
	case op.Verb != "GET" && name != "" && name != "-":
		one.Name, one.Required = name, !strings.Contains(options, "omit")
		one.Asked = one.Tag.Get("query") != "" || name == "explain" // who searches with curl asks for reasons in the address
	default:
		one.From, one.Required = Query, one.Tag.Get("required") == "true"
	}
	return true
}

// Make makes arguments of the method that say nothing yet.
func (in *Inputs) Make() (arguments []reflect.Value) {
	for _, t := range in.Types {
		arguments = append(arguments, reflect.New(t).Elem())
	}
	return arguments
}

// Given is what a call gives.
type Given struct {
	Path  func(name string) (string, error) // what stands in the path for a name; nil: there is no path
	Query url.Values
	Sent  []byte                      // JSON; empty: nothing was sent
	Meant bool                        // a model sent it, and it is read as it was meant; see meant
	Named func(project string) string // the name that a project has; nil: it is called as the call says
}

// Read reads what a call gives into arguments of the method, and checks it. It returns the members that are no inputs, by
// name, and what is wrong: what is missing before what is not as it must be.
func (in *Inputs) Read(arguments []reflect.Value, given Given) (unknown []string, faults []error) {
	members, unknown, err := in.members(given)
	if err != nil {
		return nil, []error{err}
	}
	var wrong []error
	for i := range in.List {
		one := &in.List[i]
		there, err := in.read(one, one.In(arguments), given, members)
		switch {
		case err != nil && errs.FieldOf(err) == "":
			wrong = append(wrong, errs.InvalidField(one.Name, "%s", err.Error()))
		case err != nil:
			wrong = append(wrong, err)
		case !there && one.Required && (one.From != Member || members != nil):
			faults = append(faults, errs.InvalidField(one.Name, IsRequired))
		case there && given.Named != nil && slices.Contains(projects, one.Name):
			callProjects(one.In(arguments), given.Named)
		}
	}
	return unknown, append(faults, wrong...)
}

// projects are the inputs that name some.
var projects = []string{"project", "prefer_project", "projects"}

// callProjects gives the projects in a value the names that they have.
func callProjects(value reflect.Value, named func(project string) string) {
	switch value = reflect.Indirect(value); value.Kind() {
	case reflect.String:
		value.SetString(named(value.String()))
	case reflect.Slice:
		for i := range value.Len() {
			callProjects(value.Index(i), named)
		}
	}
}

// read reads one input, and tells whether the call gives it.
func (in *Inputs) read(one *Input, into reflect.Value, given Given, members map[string]json.RawMessage) (there bool, err error) {
	value := members[one.Name]
	switch {
	case one.From == Body:
		value = given.Sent
	case one.From == Path:
		text, err := given.Path(one.Name)
		if err != nil || text == "" {
			return false, err
		}
		return true, cmp.Or(Set(into, text), one.within(into))
	case one.From == Query && one.Name == Rest:
		into.Set(reflect.ValueOf(in.rest(given.Query)))
		return true, nil
	case one.From == Query || one.Asked && value == nil:
		text := given.Query.Get(one.Name)
		if text == "" {
			return false, nil
		}
		return true, cmp.Or(Set(into, text), one.within(into))
	}
	if len(value) == 0 || one.Required && isNull(value) {
		return false, nil
	}
	return true, cmp.Or(one.decode(into, value), one.within(into))
}

// rest are the parameters of a query that are no input's.
func (in *Inputs) rest(query url.Values) map[string][]string {
	rest := map[string][]string{}
	for name, values := range query {
		if !in.Asks(name) {
			rest[name] = values
		}
	}
	return rest
}

// Asks tells whether a query may have a parameter of the name.
func (in *Inputs) Asks(name string) bool {
	return slices.ContainsFunc(in.List, func(one Input) bool { return one.Name == name && (one.From == Query || one.Asked) })
}

// member is the input that a member of what is sent is; nil: none is.
func (in *Inputs) member(name string) *Input {
	at := slices.IndexFunc(in.List, func(one Input) bool { return one.From == Member && one.Name == name })
	if at < 0 {
		return nil
	}
	return &in.List[at]
}

// members takes what is sent apart, and refuses what two readers would read differently. Nil: nothing was sent, or it is no record.
func (in *Inputs) members(given Given) (members map[string]json.RawMessage, unknown []string, err error) {
	if len(given.Sent) == 0 {
		return nil, nil, nil
	}
	if !utf8.Valid(given.Sent) {
		return nil, nil, errs.Errorf(errs.Invalid, "the body is not valid UTF-8")
	}
	if err := strictjson.CheckCrowd(given.Sent); err != nil {
		return nil, nil, err
	}
	var into any = &members
	if in.single {
		into = new(json.RawMessage)
	}
	err = json.Unmarshal(given.Sent, into)
	if _, other := errors.AsType[*json.UnmarshalTypeError](err); other || err == nil && members == nil && !in.single {
		return nil, nil, errs.Errorf(errs.Invalid, "the body must be an object")
	}
	if err != nil {
		return nil, nil, errs.Errorf(errs.Invalid, "%s", err.Error())
	}
	for name := range members {
		if in.member(name) == nil {
			unknown = append(unknown, name)
		}
	}
	slices.Sort(unknown)
	check := strictjson.CheckKnown
	if len(unknown) > 0 {
		check = strictjson.Check // what lies deeper is looked at once these are right
	}
	if in.single && in.record.Kind() != reflect.Slice { // its type reads it by itself
		return nil, nil, nil
	}
	if err := check(given.Sent, in.record); err != nil {
		return nil, nil, err
	}
	if given.Meant {
		err = in.meant(members)
	}
	return members, unknown, err
}

// meant puts what a model meant in the place of what it sent: some clients send lists, objects, numbers and truths as texts that
// hold them, and write an empty text or the word null for what they leave out.
func (in *Inputs) meant(members map[string]json.RawMessage) error {
	for name, value := range members {
		one := in.member(name)
		if one == nil {
			delete(members, name)
			continue
		}
		said, ok := meant(value, one.JSON)
		switch {
		case !ok && !one.Required:
			delete(members, name)
		case !bytes.Equal(said, value):
			members[name] = said
			again, _ := json.Marshal(map[string]json.RawMessage{name: said}) // what was a text has members of its own
			if err := cmp.Or(strictjson.CheckCrowd(again), strictjson.CheckKnown(again, in.record)); err != nil {
				return err
			}
		}
	}
	return nil
}

// meant is a value as its client means it, of a type. ok tells whether there is a value at all.
func meant(value json.RawMessage, kind string) (said json.RawMessage, ok bool) {
	var text string
	if kind == "" || len(value) == 0 || value[0] != '"' || json.Unmarshal(value, &text) != nil {
		return value, true
	}
	text = strings.TrimSpace(text)
	switch {
	case text == "null" || text == "undefined" || text == "None" || text == "" && kind != "string":
		return value, false
	case kind == "string":
		return value, true
	case kind == "boolean":
		text = strings.ToLower(text)
	}
	if text == "null" || text[0] == '"' || !json.Valid([]byte(text)) {
		return value, true
	}
	return json.RawMessage(text), true
}

func isNull(value json.RawMessage) bool { return bytes.Equal(value, []byte("null")) }

// decode sets the input to a value of JSON.
func (one *Input) decode(into reflect.Value, value json.RawMessage) error {
	err := json.Unmarshal(value, into.Addr().Interface())
	if err == nil {
		return nil
	}
	wrong, other := errors.AsType[*json.UnmarshalTypeError](err)
	if !other {
		return errs.InvalidField(one.Name, "could not be read: %s", err.Error())
	}
	got, _, _ := strings.Cut(wrong.Value, " ") // "number 1e400": the value is the caller's
	if wrong.Field != "" {
		return errs.InvalidField(strings.TrimPrefix(one.Name+"."+wrong.Field, "."), "must be %s, not %s", article(JSONType(wrong.Type)), article(got))
	}
	return errs.InvalidField(one.Name, "must be %s, not %s", one.typeNamed(), article(got))
}

func (one *Input) typeNamed() string {
	if one.JSON == "array" {
		return "an array of " + JSONType(pointed(one.Value.Type()).Elem()) + "s"
	}
	return article(one.JSON)
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

// within returns an error unless a number lies within its bounds.
func (one *Input) within(value reflect.Value) error {
	value = reflect.Indirect(value)
	var x float64
	switch {
	case !value.IsValid() || one.Min == nil && one.Max == nil:
		return nil
	case value.CanInt():
		x = float64(value.Int())
	case value.CanFloat():
		x = value.Float()
	}
	number := func(bound *float64) string { return strconv.FormatFloat(*bound, 'f', -1, 64) }
	switch {
	case one.Min != nil && one.Max != nil && (math.IsNaN(x) || x < *one.Min || x > *one.Max):
		return errors.New("must lie between " + number(one.Min) + " and " + number(one.Max))
	case one.Min != nil && x < *one.Min:
		return errors.New("must be at least " + number(one.Min))
	case one.Max != nil && x > *one.Max:
		return errors.New("must be at most " + number(one.Max))
	}
	return nil
}

// pointed is what a type points to, or the type.
func pointed(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

// JSONType is the JSON type that values of the Go type marshal to; empty if it may be one or another.
func JSONType(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[time.Time]():
		return "string"
	case reflect.TypeFor[json.RawMessage]():
		return ""
	}
	switch t.Kind() {
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "boolean"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "integer"
	case reflect.Float32, reflect.Float64:
		return "number"
	case reflect.Slice, reflect.Array:
		return "array"
	case reflect.Map, reflect.Struct:
		return "object"
	default:
		return ""
	}
}
