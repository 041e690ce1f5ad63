package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/internal/operation"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/router/client"
	"github.com/skillrouter/skillrouter/router/httpapi"
)

// filled is a value of a type in which each field that is sent says something, of the values that it may have.
func filled(t reflect.Type, choices []string, depth int) reflect.Value {
	v := reflect.New(t).Elem()
	switch {
	case t == reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(time.Date(2026, 11, 28, 9, 30, 0, 5_000_000, time.UTC)))
		return v
	case t == reflect.TypeFor[json.RawMessage]():
		v.SetBytes([]byte(`{"a":[1,"ü"]}`))
		return v
	}
	switch t.Kind() {
	case reflect.String:
		text := fmt.Sprintf("some/thing %d ü", depth)
		if c, ok := v.Interface().(interface{ Choices() []string }); ok {
			choices = c.Choices()
		}
		if len(choices) > 0 {
			text = choices[len(choices)-1]
		}
		v.SetString(text)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(1)
	case reflect.Float64:
		v.SetFloat(0.5)
	case reflect.Pointer:
		v.Set(reflect.New(t.Elem()))
		v.Elem().Set(filled(t.Elem(), choices, depth+1))
	case reflect.Slice:
		if depth < 12 {
			v.Set(reflect.Append(v, filled(t.Elem(), choices, depth+1)))
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(t))
		v.SetMapIndex(filled(t.Key(), nil, depth+1), filled(t.Elem(), nil, depth+1))
	case reflect.Struct:
		for i := range t.NumField() {
			field := t.Field(i)
			tag := field.Tag.Get("json") + field.Tag.Get("query") + field.Tag.Get("path")
			if !field.IsExported() || !field.Anonymous && (tag == "" || tag == "-") || depth > 9 {
				continue
			}
			var may []string
			if enum := field.Tag.Get("enum"); enum != "" {
				may = strings.Split(enum, ",")
			}
			v.Field(i).Set(filled(field.Type, may, depth+1))
			least, _, _ := strings.Cut(field.Tag.Get("range"), ",")
			if n, err := strconv.ParseInt(least, 10, 64); err == nil && v.Field(i).CanInt() {
				v.Field(i).SetInt(max(n, 1))
			}
		}
	}
	return v
}

// TestOperations has the client call each operation over HTTP, and holds what the method is given to what was sent, and what
// comes back to what it returned. An operation that drops a field on the way is found by it: see TestOperationsFindsALoss.
func TestOperations(t *testing.T) {
	for _, op := range operation.All() {
		if op.ByHand {
			continue
		}
		t.Run(op.Verb+" "+op.Path, func(t *testing.T) {
			if problem := carried(t, op, op); problem != "" {
				t.Error(problem)
			}
		})
	}
}

// TestOperationsFindsALoss is the control of the test above: a door that takes less than the method does.
func TestOperationsFindsALoss(t *testing.T) {
	op := operation.Find(operational.TaskService.Complete)
	if problem := carried(t, op, operation.Post(op.Path, op.Summary, operational.TaskService.Cancel)); problem == "" {
		t.Error("nobody noticed that a result is lost")
	}
	if problem := carried(t, op, op); problem != "" {
		t.Error(problem)
	}
}

// instead is the operation with do in place of the service's method, which gets what the method takes.
func instead(op *operation.Op, do func(arguments []any) any) *operation.Op {
	takes, returns := op.Types()
	in := append([]reflect.Type{reflect.TypeFor[any](), reflect.TypeFor[context.Context]()}, takes...) // any service will do
	out := []reflect.Type{reflect.TypeFor[error]()}
	if returns != nil {
		out = append([]reflect.Type{returns}, out...)
	}
	member := op.Member
	op = op.As(reflect.MakeFunc(reflect.FuncOf(in, out, false), func(in []reflect.Value) []reflect.Value {
		var arguments []any
		for _, one := range in[2:] {
			arguments = append(arguments, one.Interface())
		}
		results := []reflect.Value{reflect.Zero(reflect.TypeFor[error]())}
		if returned := do(arguments); returns != nil {
			results = append([]reflect.Value{reflect.ValueOf(returned)}, results...)
		}
		return results
	}).Interface())
	return op.Holds(member)
}

// carried calls an operation through a server that mounts it as mounted says, and tells what is lost on the way; empty: nothing is.
func carried(t *testing.T, op, mounted *operation.Op) string {
	t.Helper()
	takes, returns := op.Types()
	var sent, got []any
	for i, one := range takes {
		value := filled(one, nil, 0)
		for j := 0; (i < len(takes)-1 || op.Verb == http.MethodDelete) && one.Kind() == reflect.Struct && j < one.NumField(); j++ {
			if one.Field(j).Tag.Get("path") == "" { // of what names a thing, only what the path holds counts
				value.Field(j).SetZero()
			}
		}
		sent = append(sent, value.Interface())
	}
	var want any
	if returns != nil {
		want = filled(returns, nil, 0).Interface()
	}
	routes := httpapi.Offer(operation.List{instead(mounted, func(arguments []any) any {
		got = arguments
		return want
	})}, new(int))
	server := httptest.NewServer(httpapi.New(httpapi.Services{Auth: everyRight{}, Kinds: []httpapi.Routes{routes}}, httpapi.Options{}))
	defer server.Close()
	c := dial(t, server.URL, client.Options{Token: "any"})
	var out any = new(json.RawMessage)
	if returns != nil {
		out = reflect.New(returns).Interface()
	}
	if err := c.Do(t.Context(), op, out, sent...); err != nil {
		return err.Error()
	}
	if a, b := asText(got), asText(sent); a != b {
		return "the method is given\n" + a + "\nand was sent\n" + b
	}
	if returns == nil {
		return ""
	}
	if a, b := asText(reflect.ValueOf(out).Elem().Interface()), asText(want); a != b {
		return "what comes back is\n" + a + "\nand was returned as\n" + b
	}
	return ""
}

// everyRight is an authenticator by whom everybody may do everything.
type everyRight struct{}

func (everyRight) Authenticate(context.Context, string) (principal.Principal, error) {
	return principal.System(), nil
}

func (everyRight) Issued(context.Context) (bool, error) { return true, nil }

// asText shows values.
func asText(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
