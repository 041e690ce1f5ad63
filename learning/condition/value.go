package condition

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
)

// The names that stand for all parameters and all results.
const (
	ParamsName  = "params"
	ResultsName = "results"
)

// name looks a plain name up: among the parameters, then among the members of
// earlier results, the latest first.
func (e *evaluation) name(name string) any {
	switch name {
	case ParamsName, ResultsName:
		return scope{name}
	}
	if e.names != nil {
		if value, ok := e.names(name); ok {
			return value
		}
	}
	if _, ok := e.env.Params[name]; ok {
		return e.param(name)
	}
	for _, result := range slices.Backward(e.env.Results) {
		if members, ok := e.result(result).(map[string]any); ok {
			if member, ok := members[name]; ok {
				return member
			}
		}
	}
	return absent{fmt.Sprintf("uses %s, which is neither a parameter nor in an earlier step's result", name)}
}

// scope is all parameters or all results, of which only members are values.
type scope struct{ name string }

func (e *evaluation) param(name string) any {
	raw, ok := e.env.Params[name]
	if !ok {
		return absent{fmt.Sprintf("uses params.%s, and there is no such parameter", name)}
	}
	return e.once(e.params, name, raw, "the parameter "+name)
}

func (e *evaluation) result(result StepResult) any {
	return e.once(e.results, result.Step, result.Value, "the result of "+result.Step)
}

// once decodes a value the first time that it is asked for.
func (e *evaluation) once(known map[string]any, name string, raw json.RawMessage, what string) any {
	if _, there := known[name]; !there {
		known[name] = e.decode(raw, what)
	}
	return known[name]
}

// member looks a member of an object or of a list up.
func (e *evaluation) member(n *ast.MemberNode) any {
	of := e.look(n.Node)
	if none, ok := of.(absent); ok {
		return none
	}
	property := e.value(n.Property)
	switch of := of.(type) {
	case scope:
		name, ok := property.(string)
		if !ok {
			fail("%s has names, and %s is %s", of.name, n.Property.String(), kindOf(property))
		}
		if of.name == ParamsName {
			return e.param(name)
		}
		for _, result := range e.env.Results {
			if result.Step == name {
				return e.result(result)
			}
		}
		return absent{fmt.Sprintf("uses results.%s, and no step of this name came before and gave a result", name)}
	case map[string]any:
		if name, ok := property.(string); ok {
			if value, ok := of[name]; ok {
				return value
			}
			return absent{fmt.Sprintf("uses %s, and there is no %s in it", n.String(), name)}
		}
	case []any:
		if at, ok := property.(float64); ok && at == math.Trunc(at) {
			if at < 0 {
				at += float64(len(of)) // from the end, as in Python
			}
			if at >= 0 && at < float64(len(of)) {
				return of[int(at)]
			}
			return absent{fmt.Sprintf("uses %s, and the list has %d", n.String(), len(of))}
		}
	case nil:
		return absent{fmt.Sprintf("uses %s, and there is nothing that could have it", n.String())}
	}
	fail("cannot take %s of %s", n.Property.String(), kindOf(of))
	return nil
}

// within tells whether a value is in a list, a name in an object, or a text in a text.
func (e *evaluation) within(whole, value any) bool {
	switch whole := whole.(type) {
	case string:
		text, ok := value.(string)
		if !ok {
			fail("looks in a text for %s", kindOf(value))
		}
		e.spend(len(whole))
		return strings.Contains(whole, text)
	case map[string]any:
		name, ok := value.(string)
		if !ok {
			fail("looks in an object for %s", kindOf(value))
		}
		_, there := whole[name]
		return there
	case []any:
		return slices.ContainsFunc(whole, func(one any) bool { return e.equal(one, value) })
	}
	fail("cannot look for something in %s", kindOf(whole))
	return false
}

// part compares parts of texts; a list contains what is in it.
func (e *evaluation) part(operator string, whole, value any) bool {
	if _, list := whole.([]any); list && operator == "contains" {
		return e.within(whole, value)
	}
	text, ok := whole.(string)
	sought, both := value.(string)
	if !ok || !both {
		fail("%s compares texts, and not %s with %s", operator, kindOf(whole), kindOf(value))
	}
	e.spend(len(text))
	switch operator {
	case "startsWith":
		return strings.HasPrefix(text, sought)
	case "endsWith":
		return strings.HasSuffix(text, sought)
	}
	return strings.Contains(text, sought)
}

// equal compares two values. Values of different kinds differ.
func (e *evaluation) equal(a, b any) bool {
	e.spend(1)
	switch a := a.(type) {
	case scope:
		fail("compares %s as a whole", a.name)
	case string:
		b, ok := b.(string)
		e.spend(len(a))
		return ok && a == b
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, e.equal)
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, b, e.equal)
	}
	switch b := b.(type) {
	case scope:
		fail("compares %s as a whole", b.name)
	case []any, map[string]any:
		return false
	}
	return a == b
}

// kindOf names the kind of a value.
func kindOf(value any) string {
	switch value := value.(type) {
	case nil:
		return "nothing"
	case bool:
		return "true or false"
	case float64:
		return "a number"
	case string:
		return "a text"
	case []any:
		return "a list"
	case scope:
		return "all " + value.name
	}
	return "an object"
}
