package mcpserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"skillrouter/internal/strictjson"
	"skillrouter/learning"
)

// view says how things of a type are put before a model, as far as it does not follow from the type: see shape.
type view struct {
	// only are the members that programs get, and hides those that they do not; both are empty: they get all.
	only, hides string
	// texts are the members that may be shortened, what matters most first. The first of them needs no name.
	texts string
	zeros bool                              // it shows its zeros too
	by    string                            // the member that names who wrote it; empty: agent_id
	from  func(reflect.Value) reflect.Value // makes what is shown of it; nil: it is shown itself
	entry func(thing any) entry             // shows it, by its pointer, in words of its own; nil: as every thing is shown
}

// shape is how the things of a type are put before a model. Programs get their members, but for those that no model needs,
// and what was cut. A model reads a line of the router's own, with who wrote it, its figures, times and states; then, in a
// fence, its names on a line, and its texts. It is worked out once a type.
type shape struct {
	view
	shown   reflect.Type // what is shown: the type itself, or what view.from makes of it
	out     reflect.Type // what programs get
	members []member
	long    []int // members that may be shortened, in the order of view.texts
	cut     int   // the member of out for how many bytes were left out
}

// member is a member of what is shown.
type member struct {
	name  string
	label string // its name in words
	index []int  // in what is shown
	out   int    // in what programs get
	cut   int    // there: the beginning of its JSON, if that was cut; 0: it is no JSON
	list  bool   // it is a list of texts
	role
}

// role is where a model reads a member.
type role int

const (
	named  role = iota // among the names in the fence: what an agent chose, on a line
	figure             // in the router's own line: a number, a time, a state
	silent             // for programs alone
	writer             // in the router's own line: who wrote it
	text               // a text in the fence, which may be shortened
	nested             // the same, as JSON
)

// shapes holds the shape of every type that was asked for.
var shapes sync.Map

// shapeOf is how things of a type are shown; nil: the type has no view.
func shapeOf(t reflect.Type) *shape {
	if known, ok := shapes.Load(t); ok {
		return known.(*shape)
	}
	var made *shape
	if v, ok := views()[t]; ok {
		made = newShape(t, v)
	}
	known, _ := shapes.LoadOrStore(t, made)
	return known.(*shape)
}

func newShape(t reflect.Type, v view) *shape {
	s := &shape{view: v, shown: t}
	if v.from != nil {
		s.shown = v.from(reflect.Zero(t)).Type()
	}
	only, hides, texts := strings.Fields(v.only), strings.Fields(v.hides), strings.Fields(v.texts)
	var fields []reflect.StructField
	add := func(name string, of reflect.Type, tag string) int {
		fields = append(fields, reflect.StructField{Name: "M" + strconv.Itoa(len(fields)), Type: of, Tag: reflect.StructTag(tag)})
		return len(fields) - 1
	}
	members := strictjson.Members(s.shown)
	updated := slices.ContainsFunc(members, func(f strictjson.Member) bool { return f.Name == "updated_at" && !slices.Contains(hides, f.Name) })
	for _, f := range members {
		if slices.Contains(hides, f.Name) || len(only) > 0 && !slices.Contains(only, f.Name) {
			continue
		}
		if len(only)+len(hides) > 0 && f.Options == "" && f.Name != "agent_id" && (f.Type.Kind() == reflect.String || f.Type.Kind() == reflect.Slice && f.Type != rawJSON) {
			f.Options = "omitempty" // a model reads nothing there
		}
		m := member{name: f.Name, label: inWords(f.Name), index: f.Index, list: f.Type == reflect.TypeFor[[]string](), role: roleOf(f, v, texts, updated)}
		m.out = add(f.Name, f.Type, fmt.Sprintf("json:%q", strings.TrimSuffix(f.Name+","+f.Options, ",")))
		if f.Type == rawJSON && m.role == text {
			m.cut = add(f.Name, reflect.TypeFor[string](), fmt.Sprintf("json:%q", f.Name+"_cut,omitempty"))
		}
		s.members = append(s.members, m)
	}
	for _, name := range texts {
		at := slices.IndexFunc(s.members, func(m member) bool { return m.name == name })
		if at < 0 {
			panic(fmt.Sprintf("%s has no member %s", t, name))
		}
		s.long = append(s.long, at)
	}
	for i, m := range s.members {
		if m.role == nested {
			s.long = append(s.long, i)
		}
	}
	s.cut = add("cut_bytes", reflect.TypeFor[int](), `json:"cut_bytes,omitempty"`)
	s.out = reflect.StructOf(fields)
	return s
}

var rawJSON = reflect.TypeFor[json.RawMessage]()

// inWords is a member's name as people write it.
func inWords(name string) string {
	return strings.ReplaceAll(strings.TrimPrefix(name, "_"), "_", " ")
}

func roleOf(f strictjson.Member, v view, texts []string, updated bool) role {
	of := f.Type
	for of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	switch kind := of.Kind(); {
	case f.Name == "agent_id" && v.by == "" || f.Name == v.by:
		return writer
	case slices.Contains(texts, f.Name):
		return text
	case f.Name == "created_at" && updated: // the later time says more
		return silent
	case of == reflect.TypeFor[time.Time](), kind == reflect.Bool, kind >= reflect.Int && kind <= reflect.Float64, kind == reflect.String && of != reflect.TypeFor[string]():
		return figure
	case kind == reflect.String, kind == reflect.Slice && of.Elem().Kind() == reflect.String:
		return named
	}
	return nested
}

// from is the view of a type of which something else is shown.
func from[T, Shown any](show func(T) Shown) func(reflect.Value) reflect.Value {
	return func(v reflect.Value) reflect.Value { return reflect.ValueOf(show(v.Interface().(T))) }
}

// by is how things are shown in words of their own.
func by[T any](show func(*T) entry) func(any) entry {
	return func(thing any) entry { return show(thing.(*T)) }
}

// thing is one of those that an answer shows.
type thing struct {
	entry
	*shape
	value reflect.Value   // its own: texts are shortened in it
	cuts  map[int]*string // the members that are shortened as JSON
	left  int             // how many bytes were left out
	alone string          // the member that it is by itself; empty: it is one of a list
}

// thing makes a thing of what a service answers, which may keep its own.
func (s *shape) thing(of reflect.Value) *thing {
	if s.from != nil {
		of = s.view.from(of)
	}
	t := &thing{shape: s, value: reflect.New(s.shown).Elem()}
	t.value.Set(of)
	for i := range s.members {
		if m := &s.members[i]; m.list {
			list := t.value.FieldByIndex(m.index).Addr().Interface().(*[]string)
			*list = slices.Clone(*list)
		}
	}
	if s.view.entry != nil {
		t.entry = s.view.entry(t.value.Addr().Interface())
		return t
	}
	for _, at := range s.long {
		m := &s.members[at]
		switch field := t.value.FieldByIndex(m.index); into := field.Addr().Interface().(type) {
		case *string:
			t.entry.texts = append(t.entry.texts, into)
		case **string:
			if *into != nil {
				own := **into
				*into = &own
				t.entry.texts = append(t.entry.texts, &own)
			}
		case *[]string:
			t.entry.texts = append(t.entry.texts, each(*into)...)
		default:
			if t.cuts == nil {
				t.cuts = map[int]*string{}
			}
			full := asJSON(field)
			t.cuts[at] = &full
			t.entry.texts = append(t.entry.texts, &full)
		}
	}
	t.entry.said = t.said
	return t
}

// asJSON is a member that a model reads as JSON; empty: there is nothing in it.
func asJSON(v reflect.Value) string {
	if raw, ok := v.Interface().(json.RawMessage); ok {
		return string(raw)
	}
	if v.IsZero() || (v.Kind() == reflect.Slice || v.Kind() == reflect.Map) && v.Len() == 0 {
		return ""
	}
	if why, ok := v.Interface().([]learning.Reason); ok {
		return strings.TrimPrefix(whyNote(why), "Why: ")
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(v.Interface()) // it goes to programs as JSON too
	return strings.TrimSpace(b.String())
}

// said shows a thing as every thing is shown.
func (t *thing) said(cut int) (label string, lines []string) {
	var figures, names, writers []string
	for i := range t.members {
		m := &t.members[i]
		v := t.value.FieldByIndex(m.index)
		switch m.role {
		case writer:
			if v.Len() > 0 {
				writers = append(writers, "by "+author(v.String()))
			}
		case figure:
			switch said, safe := t.figure(m, v); {
			case said == "":
			case safe:
				figures = append(figures, said)
			default:
				names = append(names, attributes(m.label, said))
			}
		case named:
			if m.name != "redacted" { // which the answer says
				names = append(names, attributes(m.label, strings.Join(textsOf(v), ", ")))
			}
		}
	}
	names = slices.DeleteFunc(names, func(s string) bool { return s == "" })
	lines = append(lines, strings.Join(names, "; "))
	for place, at := range t.long {
		m := &t.members[at]
		said := strings.Join(textsOf(t.value.FieldByIndex(m.index)), "; ")
		if full, ok := t.cuts[at]; ok {
			said = *full
		}
		if place > 0 || m.role == nested || len(t.cuts) > 0 {
			said = part(strings.ToUpper(m.label[:1])+m.label[1:], said)
		}
		lines = append(lines, said)
	}
	return strings.Join(append(figures, writers...), ", "), append(lines, cutNote(cut))
}

// textsOf are the texts that a member holds.
func textsOf(v reflect.Value) (texts []string) {
	v = reflect.Indirect(v)
	switch {
	case !v.IsValid():
	case v.Kind() == reflect.String && v.Len() > 0:
		texts = append(texts, v.String())
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.String:
		for i := range v.Len() {
			texts = append(texts, v.Index(i).String())
		}
	}
	return texts
}

// word tells whether a text is a state or a kind as this program names them.
func word(s string) bool {
	return s != "" && len(s) <= 40 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_:-") == ""
}

// figure is a figure with its name, and whether it is safe to say outside of a fence. One that says nothing is empty.
func (t *thing) figure(m *member, v reflect.Value) (said string, safe bool) {
	pointed := v.Kind() == reflect.Pointer
	v = reflect.Indirect(v)
	if !v.IsValid() || v.IsZero() && !pointed && (!t.zeros || v.Kind() == reflect.Struct) {
		return "", true
	}
	if at, ok := v.Interface().(time.Time); ok {
		return strings.TrimSuffix(m.label, " at") + " " + at.UTC().Format(time.RFC3339), true
	}
	switch kind := v.Kind(); {
	case kind == reflect.String:
		if !word(v.String()) {
			return v.String(), false
		}
		return m.label + " " + v.String(), true
	case kind == reflect.Bool && v.Bool():
		return m.label, true
	case kind == reflect.Bool:
		return "not " + m.label, true
	case v.CanFloat():
		return m.label + " " + strconv.FormatFloat(v.Float(), 'g', 4, 64), true
	}
	return fmt.Sprintf("%s %v", m.label, v.Interface()), true
}

// fields is what programs get of a thing, once it is shown.
func (t *thing) fields() reflect.Value {
	out := reflect.New(t.out).Elem()
	for i := range t.members {
		m := &t.members[i]
		if kept := t.cuts[i]; kept != nil && m.cut > 0 && len(*kept) < t.value.FieldByIndex(m.index).Len() {
			out.Field(m.cut).SetString(*kept) // half a JSON is none
			continue
		}
		out.Field(m.out).Set(t.value.FieldByIndex(m.index))
	}
	out.Field(t.cut).SetInt(int64(t.left))
	return out
}
