package markup

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"text/template/parse"
)

// builtins are the functions that every template may call. and, or and index are called apart.
var builtins = map[string]any{
	"and": true, "or": true, "index": true, // call knows them
	"not": func(value any) bool { return !truth(reflect.ValueOf(value)) },
	"len": length, "print": fmt.Sprint,
	"eq": func(a any, others ...any) (bool, error) { return equal(a, others) },
	"ne": func(a, b any) (bool, error) { same, err := equal(a, []any{b}); return !same, err },
	"lt": func(a, b any) (bool, error) { sign, err := compare(a, b); return sign < 0, err },
	"le": func(a, b any) (bool, error) { sign, err := compare(a, b); return sign <= 0, err },
	"gt": func(a, b any) (bool, error) { sign, err := compare(a, b); return sign > 0, err },
	"ge": func(a, b any) (bool, error) { sign, err := compare(a, b); return sign >= 0, err },
}

// call calls a function by its name. and and or evaluate no more than they need.
func (e *execution) call(name *parse.IdentifierNode, nodes []parse.Node, dot reflect.Value, last []reflect.Value) (result reflect.Value, err error) {
	var args []reflect.Value
	for _, node := range nodes {
		value, err := e.value(node, dot)
		if err != nil {
			return value, err
		}
		if decides := name.Ident == "or"; (decides || name.Ident == "and") && truth(value) == decides {
			return value, nil
		}
		args = append(args, value)
	}
	args = append(args, last...)
	function, own := e.templates.functions[name.Ident]
	if !own {
		function = reflect.ValueOf(builtins[name.Ident])
	}
	switch {
	case own:
	case len(args) == 0:
		return result, wrong(name, "takes a value")
	case name.Ident == "and", name.Ident == "or":
		return args[len(args)-1], nil
	case name.Ident == "index":
		return index(name, args)
	}
	if args, err = fitted(name, function.Type(), args); err != nil {
		return result, err
	}
	results := function.Call(args)
	if len(results) == 2 {
		if err, _ := results[1].Interface().(error); err != nil {
			return result, wrong(name, "%v", err)
		}
	}
	return results[0], nil
}

// fitted makes arguments those that a function takes.
func fitted(name parse.Node, function reflect.Type, args []reflect.Value) ([]reflect.Value, error) {
	fixed := function.NumIn()
	if function.IsVariadic() {
		fixed--
	}
	if len(args) < fixed || len(args) > fixed && !function.IsVariadic() {
		return nil, wrong(name, "takes %d values, and got %d", fixed, len(args))
	}
	for i, arg := range args {
		want := function.In(min(i, function.NumIn()-1))
		if i >= fixed {
			want = want.Elem()
		}
		if arg.IsValid() && arg.Kind() == reflect.Interface {
			arg = arg.Elem()
		}
		switch {
		case !arg.IsValid():
			arg = reflect.Zero(want)
		case arg.Type().AssignableTo(want):
		case arg.Kind() == want.Kind(), arg.CanInt() && want.Kind() == reflect.Float64: // a type of its own, or an integer
			arg = arg.Convert(want)
		case arg.Kind() == reflect.Pointer && !arg.IsNil() && arg.Elem().Type().AssignableTo(want):
			arg = arg.Elem()
		default:
			return nil, wrong(name, "takes a %s, and got a %s", want, arg.Type())
		}
		args[i] = arg
	}
	return args, nil
}

// index looks values up in a list or a map, one in the other.
func index(name parse.Node, args []reflect.Value) (reflect.Value, error) {
	of := args[0]
	for _, at := range args[1:] {
		is, isNil := direct(of)
		at, _ = direct(at)
		switch {
		case isNil:
			return of, wrong(name, "there is nothing to look in")
		case is.Kind() == reflect.Map && at.IsValid() && at.Type().ConvertibleTo(is.Type().Key()):
			of = is.MapIndex(at.Convert(is.Type().Key()))
			if !of.IsValid() {
				of = reflect.Zero(is.Type().Elem())
			}
		case (is.Kind() == reflect.Slice || is.Kind() == reflect.Array) && at.IsValid() && at.CanInt() && at.Int() >= 0 && at.Int() < int64(is.Len()):
			of = is.Index(int(at.Int()))
		default:
			return of, wrong(name, "a %s has no such place", is.Type())
		}
	}
	return of, nil
}

// truth tells whether a value is more than the zero value of its type, or a struct.
func truth(value reflect.Value) bool {
	if value.Kind() == reflect.Interface {
		value = value.Elem()
	}
	switch value.Kind() {
	case reflect.Invalid:
		return false
	case reflect.Slice, reflect.Map, reflect.Array, reflect.String:
		return value.Len() > 0
	case reflect.Struct:
		return true
	}
	return !value.IsZero()
}

// text is a value as it is shown; nothing is shown as nothing.
func text(value reflect.Value) string {
	if value.Kind() == reflect.Interface {
		value = value.Elem()
	}
	if !value.IsValid() {
		return ""
	}
	for value.Kind() == reflect.Pointer && !value.IsNil() && !shows(value.Interface()) {
		value = value.Elem()
	}
	return fmt.Sprint(value.Interface())
}

// shows tells whether a value has a text of its own.
func shows(value any) bool {
	switch value.(type) {
	case fmt.Stringer, error:
		return true
	}
	return false
}

func length(value any) (int, error) {
	held, isNil := direct(reflect.ValueOf(value))
	switch held.Kind() {
	case reflect.Slice, reflect.Map, reflect.Array, reflect.String:
		return held.Len(), nil
	}
	if isNil {
		return 0, errors.New("nothing has no length")
	}
	return 0, fmt.Errorf("a %s has no length", held.Type())
}

// equal tells whether a value is one of others.
func equal(a any, others []any) (bool, error) {
	if len(others) == 0 {
		return false, errors.New("needs something to compare with")
	}
	for _, b := range others {
		if one, is := reflect.ValueOf(a), reflect.ValueOf(b); one.Kind() == reflect.Bool && is.Kind() == reflect.Bool {
			if one.Bool() == is.Bool() {
				return true, nil
			}
			continue
		}
		sign, err := compare(a, b)
		if err != nil || sign == 0 {
			return err == nil, err
		}
	}
	return false, nil
}

// compare orders two texts or two numbers.
func compare(a, b any) (int, error) {
	one, other := reflect.ValueOf(a), reflect.ValueOf(b)
	switch {
	case one.Kind() == reflect.String && other.Kind() == reflect.String:
		return strings.Compare(one.String(), other.String()), nil
	case one.CanInt() && other.CanInt():
		return sign(one.Int(), other.Int()), nil
	case one.CanUint() && other.CanInt():
		return -signed(other.Int(), one.Uint()), nil
	case one.CanInt() && other.CanUint():
		return signed(one.Int(), other.Uint()), nil
	case one.CanUint() && other.CanUint():
		return sign(one.Uint(), other.Uint()), nil
	case one.CanFloat() && other.CanFloat():
		return sign(one.Float(), other.Float()), nil
	}
	return 0, fmt.Errorf("cannot compare %T with %T", a, b)
}

func signed(a int64, b uint64) int {
	if a < 0 {
		return -1
	}
	return sign(uint64(a), b)
}

func sign[T int64 | uint64 | float64](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// sortedKeys returns a map's keys in their order.
func sortedKeys(m reflect.Value) []reflect.Value {
	keys := m.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int {
		order, err := compare(a.Interface(), b.Interface())
		if err != nil {
			return strings.Compare(fmt.Sprint(a), fmt.Sprint(b))
		}
		return order
	})
	return keys
}
