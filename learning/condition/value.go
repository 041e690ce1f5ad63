package condition

import (
	"encoding/json"
	"fmt"
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
func (e *evaluation) name(name string) (any, error) {
	switch name {
	case ParamsName:
		return scope{ParamsName}, nil
	case ResultsName:
		return scope{ResultsName}, nil
	}
	if e.names != nil {
		if value, ok := e.names(name); ok {
			return value, nil
		}
	}
	if _, ok := e.env.Params[name]; ok {
		return e.param(name)
	}
	for _, result := range slices.Backward(e.env.Results) {
		value, err := e.result(result)
		if err != nil {
			return nil, err
		}
		if members, ok := value.(map[string]any); ok {
			if member, ok := members[name]; ok {
				return member, nil
			}
		}
	}
	return absent{fmt.Sprintf("uses %s, which is neither a parameter nor in an earlier step's result", name)}, nil
}

// scope is all parameters or all results, of which only members are values.
type scope struct{ name string }

func (e *evaluation) param(name string) (any, error) {
	raw, ok := e.env.Params[name]
	if !ok {
		return absent{fmt.Sprintf("uses params.%s, and there is no such parameter", name)}, nil
	}
	return e.once(e.params, name, raw, "the parameter "+name)
}

func (e *evaluation) result(result StepResult) (any, error) {
	return e.once(e.results, result.Step, result.Value, "the result of "+result.Step)
}

// once decodes a value the first time that it is asked for.
func (e *evaluation) once(known map[string]any, name string, raw json.RawMessage, what string) (any, error) {
	if value, ok := known[name]; ok {
		return value, nil
	}
	value, err := e.decode(raw, what)
	if err != nil {
		return nil, err
	}
	known[name] = value
	return value, nil
}

// member looks a member of an object or of a list up.
func (e *evaluation) member(n *ast.MemberNode) (any, error) {
	of, err := e.look(n.Node)
	if err != nil {
		return nil, err
	}
	if none, ok := of.(absent); ok {
		return none, nil
	}
	property, err := e.value(n.Property)
	if err != nil {
		return nil, err
	}
	switch of := of.(type) {
	case scope:
		name, ok := property.(string)
		if !ok {
			return nil, wrong("%s has names, and %s is %s", of.name, n.Property.String(), kindOf(property))
		}
		if of.name == ParamsName {
			return e.param(name)
		}
		for _, result := range e.env.Results {
			if result.Step == name {
				return e.result(result)
			}
		}
		return absent{fmt.Sprintf("uses results.%s, and no step of this name came before and gave a result", name)}, nil
	case map[string]any:
		if name, ok := property.(string); ok {
			if value, ok := of[name]; ok {
				return value, nil
			}
			return absent{fmt.Sprintf("uses %s, and there is no %s in it", n.String(), name)}, nil
		}
	case []any:
		if at, ok := property.(float64); ok && at == math.Trunc(at) {
			if at < 0 {
				at += float64(len(of)) // from the end, as in Python
			}
			if at >= 0 && at < float64(len(of)) {
				return of[int(at)], nil
			}
			return absent{fmt.Sprintf("uses %s, and the list has %d", n.String(), len(of))}, nil
		}
	case nil:
		return absent{fmt.Sprintf("uses %s, and there is nothing that could have it", n.String())}, nil
	}
	return nil, wrong("cannot take %s of %s", n.Property.String(), kindOf(of))
}

// within tells whether a value is in a list, a name in an object, or a text in a text.
func (e *evaluation) within(whole, value any) (bool, error) {
	switch whole := whole.(type) {
	case string:
		text, ok := value.(string)
		if !ok {
			return false, wrong("looks in a text for %s", kindOf(value))
		}
		return strings.Contains(whole, text), e.spend(len(whole))
	case map[string]any:
		name, ok := value.(string)
		if !ok {
			return false, wrong("looks in an object for %s", kindOf(value))
		}
		_, there := whole[name]
		return there, nil
	case []any:
		for _, one := range whole {
			if same, err := e.equal(one, value); err != nil || same {
				return same, err
			}
		}
		return false, nil
	}
	return false, wrong("cannot look for something in %s", kindOf(whole))
}

// part compares parts of texts; a list contains what is in it.
func (e *evaluation) part(operator string, whole, value any) (bool, error) {
	if _, list := whole.([]any); list && operator == "contains" {
		return e.within(whole, value)
	}
	text, ok := whole.(string)
	sought, both := value.(string)
	if !ok || !both {
		return false, wrong("%s compares texts, and not %s with %s", operator, kindOf(whole), kindOf(value))
	}
	switch operator {
	case "startsWith":
		return strings.HasPrefix(text, sought), e.spend(len(sought))
	case "endsWith":
		return strings.HasSuffix(text, sought), e.spend(len(sought))
	}
	return strings.Contains(text, sought), e.spend(len(text))
}

// equal compares two values. Values of different kinds differ.
func (e *evaluation) equal(a, b any) (bool, error) {
	if err := e.spend(1); err != nil {
		return false, err
	}
	switch a := a.(type) {
	case string:
		b, ok := b.(string)
		return ok && a == b, e.spend(len(a))
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false, nil
		}
		for i := range a {
			if same, err := e.equal(a[i], b[i]); err != nil || !same {
				return false, err
			}
		}
		return true, nil
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false, nil
		}
		for name, value := range a {
			other, ok := b[name]
			if !ok {
				return false, nil
			}
			if same, err := e.equal(value, other); err != nil || !same {
				return false, err
			}
		}
		return true, nil
	case scope:
		return false, wrong("compares %s as a whole", a.name)
	}
	switch b := b.(type) {
	case []any, map[string]any:
		return false, nil
	case scope:
		return false, wrong("compares %s as a whole", b.name)
	}
	return a == b, nil
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
