package web

import (
	"encoding/json"
	"net/url"
	"reflect"
	"strconv"
	"strings"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/operation"
	"github.com/skillrouter/skillrouter/internal/strictjson"
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
		if f.Object { // what people say is its text
			f.Value.Set(reflect.ValueOf(saidIn(form)))
			continue
		}
		if text == "" || f.Name == "id" {
			continue
		}
		if err := operation.Set(f.Value, text); err != nil {
			return errs.InvalidField(f.Name, "%s", err.Error())
		}
	}
	return nil
}

// saidIn is what a form says to an agent, as the context of a signal; nil: nothing.
func saidIn(form url.Values) json.RawMessage {
	said := map[string]string{}
	for _, member := range []string{"text", "reason"} {
		if text := strings.TrimSpace(form.Get(member)); text != "" {
			said[member] = text
		}
	}
	if len(said) == 0 {
		return nil
	}
	raw, _ := json.Marshal(said) // texts alone cannot fail
	return raw
}

// choices are the values that a method's field can have; none: any.
func (s *Server) choices(name, field string) []string {
	method := s.method(name)
	if !method.IsValid() {
		return nil
	}
	for in := range method.Type().Ins() {
		if in.Kind() != reflect.Struct {
			continue
		}
		for _, f := range operation.Fields(reflect.New(in).Interface()) {
			switch {
			case f.Name != field:
			case f.Value.Type() == reflect.TypeFor[*bool]():
				return []string{"true", "false"}
			default:
				return f.Choices
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
	return elements(value), next, total
}

func elements(list reflect.Value) (all []any) {
	for i := 0; list.Kind() == reflect.Slice && i < list.Len(); i++ {
		all = append(all, list.Index(i).Interface())
	}
	return all
}

// rowsOf are the elements of an item's member, by its name in JSON.
func rowsOf(item any, member string) []any {
	of, there := strictjson.MemberOf(reflect.TypeOf(item), member)
	if !there {
		return nil
	}
	return elements(reflect.ValueOf(item).FieldByIndex(of.Index))
}
