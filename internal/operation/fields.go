// Package operation reads what an operation takes from the tags of its input's type, so that the tools
// and the command line say the same of a field as HTTP does, and each field is described once.
package operation

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Field is one member of an operation's input.
type Field struct {
	Name     string   // as in JSON, or in a query
	Doc      string   // what it is, for people and models; empty if its name says it
	Min, Max *float64 // of a number; nil: unbounded
	Choices  []string // of a text, or of a list's elements; nil: any
	Actor    bool     // it is who makes the call, and filled with the caller where it is left out
	Here     string   // what of where the caller is fills it where it is left out: project, folder or branch
	Object   bool     // its JSON is an object, whose members its service reads
	Help     string   // what people at a terminal are told of it instead; empty: the same
	Among    []string // what they are told that it may be, where Choices has none
	Seconds  bool     // it is a length of time, in seconds
	Long     bool     // it is a longer text, which people give on standard input too
	Usual    int      // of a list's limit: what is meant by 0
	Most     int      // and the greatest
	Index    []int    // its place in the input, as reflect.Value.FieldByIndex takes it
	Tag      reflect.StructTag
	Value    reflect.Value
}

// described holds the fields of each type that was asked for, without values: every call of a tool asks.
var described sync.Map

// chooser is a named text that has few values.
type chooser interface{ Choices() []string }

// Fields lists the fields of the struct that in points to, in their order. A field's name is that of its tag query or,
// without one, of its tag json or path. The tags doc, minimum and maximum (or range) say what is told of it; actor and here say
// that it is filled with the caller and where the caller is, its project, folder or branch; help, among, unit, long and usual are for
// who gives it by hand. An embedded struct's fields are the struct's own.
func Fields(in any) []Field {
	value := reflect.ValueOf(in).Elem()
	known, there := described.Load(value.Type())
	if !there {
		known, _ = described.LoadOrStore(value.Type(), describe(value.Type()))
	}
	list := slices.Clone(known.([]Field))
	for i := range list {
		list[i].Value = value.FieldByIndex(list[i].Index)
	}
	return list
}

// Fields lists what the method takes, of pointers to that: the fields of structs, with those that stand in the path, and a
// text or number by its own name.
func (op *Op) Fields(takes []any) (list []Field) {
	for i, one := range takes {
		value := reflect.ValueOf(one).Elem()
		switch {
		case value.Kind() == reflect.Struct:
			list = append(list, Fields(one)...)
		case i == 0 && op.inPath():
			list = append(list, Field{Name: op.idName(), Doc: op.About, Value: value})
		default:
			list = append(list, Field{Name: op.Argument, Value: value})
		}
	}
	return list
}

// describe reads the tags of a type.
func describe(t reflect.Type) (list []Field) {
	for _, member := range reflect.VisibleFields(t) {
		name := member.Tag.Get("query")
		if name == "" {
			name, _, _ = strings.Cut(member.Tag.Get("json"), ",")
		}
		if name == "" {
			name = member.Tag.Get("path")
		}
		if name == "" || name == "-" || !member.IsExported() {
			continue
		}
		field := Field{
			Name: name, Doc: member.Tag.Get("doc"), Min: bound(member.Tag.Get("minimum")), Max: bound(member.Tag.Get("maximum")),
			Actor: member.Tag.Get("actor") == "true", Here: member.Tag.Get("here"), Object: member.Tag.Get("object") == "true",
			Help: member.Tag.Get("help"), Seconds: member.Tag.Get("unit") == "s", Long: member.Tag.Get("long") == "true", Index: member.Index, Tag: member.Tag,
		}
		if among := member.Tag.Get("among"); among != "" {
			field.Among = strings.Split(among, ",")
		}
		usual, most, _ := strings.Cut(member.Tag.Get("usual"), ",")
		field.Usual, _ = strconv.Atoi(usual)
		field.Most, _ = strconv.Atoi(most)
		one := member.Type
		for one.Kind() == reflect.Pointer || one.Kind() == reflect.Slice {
			one = one.Elem()
		}
		if choices, ok := reflect.Zero(one).Interface().(chooser); ok {
			field.Choices = choices.Choices()
		} else if enum := member.Tag.Get("enum"); enum != "" && one.Kind() == reflect.String {
			field.Choices = strings.Split(enum, ",")
		}
		if least, most, told := strings.Cut(member.Tag.Get("range"), ","); told {
			field.Min, field.Max = bound(least), bound(most)
		}
		list = append(list, field)
	}
	return list
}

func bound(tag string) *float64 {
	if tag == "" {
		return nil
	}
	n, err := strconv.ParseFloat(tag, 64)
	if err != nil {
		panic(fmt.Sprintf("the bound %q of a field is no number", tag))
	}
	return &n
}

// Set sets a field to what a text says. The elements of a list are separated by commas.
func Set(field reflect.Value, text string) error {
	switch field.Kind() {
	case reflect.String:
		field.SetString(text)
		return nil
	case reflect.Int, reflect.Int64:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return errors.New("invalid integer")
		}
		field.SetInt(n)
		return nil
	case reflect.Float64:
		x, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return errors.New("invalid float")
		}
		field.SetFloat(x)
		return nil
	case reflect.Bool:
		switch strings.ToLower(text) {
		case "true", "1", "yes", "on", "t", "y":
			field.SetBool(true)
		case "false", "0", "no", "off", "f", "n":
			field.SetBool(false)
		default:
			return errors.New("must be true or false")
		}
		return nil
	case reflect.Slice:
		if field.Type().Elem().Kind() != reflect.String {
			break
		}
		parts := strings.Split(text, ",")
		list := reflect.MakeSlice(field.Type(), len(parts), len(parts))
		for i, part := range parts {
			list.Index(i).SetString(part)
		}
		field.Set(list)
		return nil
	case reflect.Pointer:
		field.Set(reflect.New(field.Type().Elem()))
		return Set(field.Elem(), text)
	}
	if into, ok := field.Addr().Interface().(*time.Time); ok {
		t, err := time.Parse(time.RFC3339Nano, text)
		if err != nil {
			return errors.New("invalid date/time for format " + time.RFC3339Nano)
		}
		*into = t
		return nil
	}
	return errors.New("a " + field.Type().String() + " cannot be given as a text")
}
