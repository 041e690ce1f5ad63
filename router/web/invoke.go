package web

import (
	"bytes"
	"encoding/json"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"skillrouter/internal/errs"
	"skillrouter/internal/operation"
)

// method is a method of a service by its name in things.yaml, such as Tasks.List; it is not valid where there is no such service.
func (s *Server) method(name string) reflect.Value {
	service, of, _ := strings.Cut(name, ".")
	field := reflect.ValueOf(s.services).FieldByName(service)
	if !field.IsValid() || field.IsZero() {
		return reflect.Value{}
	}
	return field.MethodByName(of)
}

// call calls a method with what a form says. It takes an id, a text or a struct whose fields have tags.
func (s *Server) call(v *visit, name, id string, form url.Values, words string) (any, error) {
	method := s.method(name)
	in := []reflect.Value{reflect.ValueOf(v.Context())}
	for i := 1; i < method.Type().NumIn(); i++ {
		argument := reflect.New(method.Type().In(i)).Elem()
		switch {
		case argument.Kind() == reflect.Struct:
			if err := fill(argument.Addr().Interface(), id, form); err != nil {
				return nil, err
			}
		case argument.Kind() == reflect.Int64:
			n, err := strconv.ParseInt(id, 10, 64)
			if err != nil {
				return nil, errs.InvalidField("id", "must be a number")
			}
			argument.SetInt(n)
		case i == 1:
			argument.SetString(id)
		default:
			argument.SetString(words)
		}
		in = append(in, argument)
	}
	out := method.Call(in)
	err, _ := out[len(out)-1].Interface().(error)
	if len(out) == 1 {
		return nil, err
	}
	return out[0].Interface(), err
}

// fill sets the fields of what an operation takes from the fields of a form.
func fill(in any, id string, form url.Values) error {
	for _, f := range operation.Fields(in) {
		text := strings.TrimSpace(form.Get(f.Name))
		if text == "" && (f.Actor || strings.HasSuffix(f.Name, "by")) && f.Name != "agent_id" && f.Name != "superseded_by" {
			text = strings.TrimSpace(form.Get("by"))
		}
		if f.Name == "ids" {
			text = id
		}
		if text == "" || f.Name == "kind" || f.Name == "id" {
			continue
		}
		value := f.Value
		if value.Kind() == reflect.Pointer {
			value.Set(reflect.New(value.Type().Elem()))
			value = value.Elem()
		}
		switch value.Kind() {
		case reflect.String:
			value.SetString(text)
		case reflect.Bool:
			value.SetBool(text != "false")
		case reflect.Int, reflect.Int64:
			n, err := strconv.ParseInt(text, 10, 64)
			if err != nil || f.Name != "priority" && n < 0 {
				return errs.InvalidField(f.Name, "must be a whole number")
			}
			value.SetInt(n)
		case reflect.Slice:
			for one := range strings.SplitSeq(text, ",") {
				element := reflect.New(value.Type().Elem()).Elem()
				element.SetString(one)
				value.Set(reflect.Append(value, element))
			}
		default:
			return errs.InvalidField(f.Name, "cannot be set here")
		}
	}
	return nil
}

// choices are the values that a method's field can have; none: any.
func (s *Server) choices(name, field string) []string {
	method := s.method(name)
	if !method.IsValid() {
		return nil
	}
	for i := 1; i < method.Type().NumIn(); i++ {
		if in := method.Type().In(i); in.Kind() == reflect.Struct {
			fields := operation.Fields(reflect.New(in).Interface())
			if at := slices.IndexFunc(fields, func(f operation.Field) bool { return f.Name == field }); at >= 0 {
				if k := fields[at].Value.Type(); k.Kind() == reflect.Pointer && k.Elem().Kind() == reflect.Bool {
					return []string{"true", "false"}
				}
				return fields[at].Choices
			}
		}
	}
	return nil
}

// items are the rows of an answer, which is a list or has one, and the cursor of what is behind them.
func items(answer any) (rows []any, next string, total int64) {
	value := reflect.ValueOf(answer)
	if value.Kind() == reflect.Struct {
		list := value
		for i := range value.NumField() {
			switch name := value.Type().Field(i).Name; {
			case name == "Next":
				next = value.Field(i).String()
			case name == "Total":
				total = value.Field(i).Int()
			case value.Field(i).Kind() == reflect.Slice && list == value:
				list = value.Field(i)
			}
		}
		value = list
	}
	for i := 0; value.Kind() == reflect.Slice && i < value.Len(); i++ {
		rows = append(rows, value.Index(i).Interface())
	}
	return rows, next, total
}

// record is an item by its members, as JSON names them.
type record map[string]any

func recordOf(item any) (record, error) {
	if had, ok := item.(record); ok {
		return had, nil
	}
	text, err := json.Marshal(item)
	if err != nil {
		return nil, err
	}
	of := record{}
	read := json.NewDecoder(bytes.NewReader(text))
	read.UseNumber()
	return of, read.Decode(&of)
}

// say is what a member says, or the first of several that says something.
func (r record) say(names string) string {
	for name := range strings.SplitSeq(names, "/") {
		if fixed, ok := strings.CutPrefix(name, "="); ok {
			return fixed
		}
		switch value := r[name].(type) {
		case nil:
		case string:
			if value != "" {
				return value
			}
		case json.Number:
			return value.String()
		case bool:
			if value {
				return "true"
			}
		case []any:
			var all []string
			for _, one := range value {
				if text, ok := one.(string); ok {
					all = append(all, text)
				}
			}
			if len(all) > 0 {
				return strings.Join(all, ", ")
			}
		default:
			text, _ := json.Marshal(value) // it came of JSON
			return string(text)
		}
	}
	return ""
}

// titled fills the members into a title.
func (r record) titled(pattern string) string {
	var out strings.Builder
	for pattern != "" {
		before, rest, more := strings.Cut(pattern, "{")
		out.WriteString(before)
		if !more {
			break
		}
		name, behind, _ := strings.Cut(rest, "}")
		out.WriteString(r.say(name))
		pattern = behind
	}
	return strings.TrimSpace(out.String())
}

// fits tells whether the members have what a condition wants, such as "status=pending,claimed;demoted!=true".
func (r record) fits(when string) bool {
	for one := range strings.SplitSeq(when, ";") {
		name, wanted, ok := strings.Cut(one, "=")
		if !ok {
			continue
		}
		name, not := strings.CutSuffix(name, "!")
		said := r.say(name)
		if said == "0" { // a number that is none
			said = ""
		}
		if slices.Contains(strings.Split(wanted, ","), said) == not {
			return false
		}
	}
	return true
}
