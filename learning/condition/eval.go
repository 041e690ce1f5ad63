package condition

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"skillrouter"
)

// evaluation is one evaluation of a condition. It walks the tree of what was read.
//
// Values are those of encoding/json: nil, bool, float64, string, []any and map[string]any.
type evaluation struct {
	ctx     context.Context               // nil: nobody can give it up
	names   func(name string) (any, bool) // values of known names; nil: see env
	env     Env
	work    int
	each    any // what # stands for
	facts   map[string]any
	params  map[string]any
	results map[string]any
}

// absent is the value of what has none, which errors name.
type absent struct{ what string }

func wrong(format string, args ...any) error {
	return skillrouter.InvalidField("condition", format, args...)
}

// spend counts work.
func (e *evaluation) spend(n int) error {
	before := e.work >> 12
	if e.work += n; e.work > MaxWork {
		return wrong("takes too long: it reads and compares too much")
	}
	if e.work>>12 != before && e.ctx != nil && e.ctx.Err() != nil {
		return skillrouter.Wrap(skillrouter.Unavailable, e.ctx.Err(), "the condition was given up")
	}
	return nil
}

// value evaluates a node to what it is; what is absent is an error.
func (e *evaluation) value(part node) (any, error) {
	value, err := e.look(part)
	if err != nil {
		return nil, err
	}
	if none, ok := value.(absent); ok {
		return nil, wrong("%s", none.what)
	}
	return value, nil
}

// look evaluates a node, to absent if it is what nobody gave a value.
func (e *evaluation) look(part node) (any, error) {
	if err := e.spend(1); err != nil {
		return nil, err
	}
	switch n := part.(type) {
	case nilNode:
		return nil, nil
	case truthNode:
		return n.value, nil
	case numberNode:
		return n.value, nil
	case textNode:
		return n.value, nil
	case eachNode:
		return e.each, nil
	case nameNode:
		return e.name(n.name)
	case memberNode:
		return e.member(n)
	case unaryNode:
		return e.unary(n)
	case binaryNode:
		return e.binary(n)
	case loopNode:
		return e.loop(n.name, n.over, n.each)
	case choiceNode:
		held, err := e.truth(n.cond)
		if err != nil {
			return nil, err
		}
		if held {
			return e.value(n.then)
		}
		return e.value(n.otherwise)
	case listNode:
		list := make([]any, len(n.nodes))
		for i, one := range n.nodes {
			var err error
			if list[i], err = e.value(one); err != nil {
				return nil, err
			}
		}
		return list, nil
	case callNode:
		argument, err := e.value(n.argument)
		if err != nil {
			return nil, err
		}
		if key, ok := argument.(string); ok && slices.Contains(stepGrammar.lookups, n.name) {
			return e.fact(key)
		}
		return e.call(n.name, argument)
	}
	return nil, wrong("%s is not accepted here", part.String())
}

func (e *evaluation) truth(part node) (bool, error) {
	value, err := e.value(part)
	if err != nil {
		return false, err
	}
	held, ok := value.(bool)
	if !ok {
		return false, wrong("must be true or false, and %s is %s: compare it with something", part.String(), kindOf(value))
	}
	return held, nil
}

func (e *evaluation) unary(n unaryNode) (any, error) {
	if n.operator == "not" || n.operator == "!" {
		held, err := e.truth(n.of)
		return !held, err
	}
	number, err := e.number(n.of)
	if n.operator == "-" {
		number = -number
	}
	return number, err
}

func (e *evaluation) number(part node) (float64, error) {
	value, err := e.value(part)
	if err != nil {
		return 0, err
	}
	number, ok := value.(float64)
	if !ok {
		return 0, wrong("must calculate with numbers, and %s is %s", part.String(), kindOf(value))
	}
	return number, nil
}

func (e *evaluation) binary(n binaryNode) (any, error) {
	switch n.operator {
	case "and", "&&", "or", "||":
		held, err := e.truth(n.left)
		if decides := n.operator == "or" || n.operator == "||"; err != nil || held == decides {
			return held, err
		}
		return e.truth(n.right)
	case "==", "!=":
		same, err := e.equality(n.left, n.right)
		return same == (n.operator == "=="), err
	case "+", "-", "*", "/", "%":
		return e.arithmetic(n)
	}
	left, err := e.value(n.left)
	if err != nil {
		return nil, err
	}
	right, err := e.value(n.right)
	if err != nil {
		return nil, err
	}
	switch n.operator {
	case "in":
		return e.within(right, left)
	case "contains", "startsWith", "endsWith":
		return e.part(n.operator, left, right)
	}
	return e.order(n, left, right)
}

// equality compares two nodes; beside nil, what is absent is nil.
func (e *evaluation) equality(left, right node) (bool, error) {
	_, leftNil := left.(nilNode)
	_, rightNil := right.(nilNode)
	if leftNil || rightNil {
		other := left
		if leftNil {
			other = right
		}
		value, err := e.look(other)
		_, none := value.(absent)
		return none || value == nil, err
	}
	a, err := e.value(left)
	if err != nil {
		return false, err
	}
	b, err := e.value(right)
	if err != nil {
		return false, err
	}
	return e.equal(a, b)
}

func (e *evaluation) arithmetic(n binaryNode) (any, error) {
	a, err := e.number(n.left)
	if err != nil {
		return nil, err
	}
	b, err := e.number(n.right)
	if err != nil {
		return nil, err
	}
	var result float64
	switch n.operator {
	case "+":
		result = a + b
	case "-":
		result = a - b
	case "*":
		result = a * b
	case "/", "%":
		if b == 0 {
			return nil, wrong("divides by zero: %s is 0", n.right.String())
		}
		if result = a / b; n.operator == "%" {
			result = math.Mod(a, b)
		}
	}
	if math.IsInf(result, 0) || math.IsNaN(result) {
		return nil, wrong("%s is too large a number", n.String())
	}
	return result, nil
}

func (e *evaluation) order(n binaryNode, left, right any) (any, error) {
	var sign int
	switch a := left.(type) {
	case float64:
		b, ok := right.(float64)
		if !ok {
			return nil, unordered(n, left, right)
		}
		sign = compareNumbers(a, b)
	case string:
		b, ok := right.(string)
		if !ok {
			return nil, unordered(n, left, right)
		}
		if err := e.spend(min(len(a), len(b))); err != nil {
			return nil, err
		}
		sign = strings.Compare(a, b)
	default:
		return nil, unordered(n, left, right)
	}
	switch n.operator {
	case "<":
		return sign < 0, nil
	case "<=":
		return sign <= 0, nil
	case ">":
		return sign > 0, nil
	}
	return sign >= 0, nil
}

func compareNumbers(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func unordered(n binaryNode, left, right any) error {
	return wrong("cannot compare %s with %s: %s is %s, and %s is %s", kindOf(left), kindOf(right), n.left.String(), kindOf(left), n.right.String(), kindOf(right))
}

// loop tries a condition on each of a list.
func (e *evaluation) loop(name string, over, each node) (any, error) {
	value, err := e.value(over)
	if err != nil {
		return nil, err
	}
	list, ok := value.([]any)
	if !ok {
		return nil, wrong("%s goes through a list, and %s is %s", name, over.String(), kindOf(value))
	}
	held := 0
	for _, e.each = range list {
		yes, err := e.truth(each)
		if err != nil {
			return nil, err
		}
		if yes {
			held++
		}
	}
	switch name {
	case "any":
		return held > 0, nil
	case "all":
		return held == len(list), nil
	case "none":
		return held == 0, nil
	case "one":
		return held == 1, nil
	}
	return float64(held), nil
}

func (e *evaluation) call(name string, value any) (any, error) {
	if text, ok := value.(string); ok {
		if err := e.spend(len(text)); err != nil {
			return nil, err
		}
		switch name {
		case "len":
			return float64(utf8.RuneCountInString(text)), nil
		case "lower":
			return strings.ToLower(text), nil
		case "upper":
			return strings.ToUpper(text), nil
		case "trim":
			return strings.TrimSpace(text), nil
		case "int", "float":
			number, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
			if err != nil || math.IsInf(number, 0) || math.IsNaN(number) {
				return nil, wrong("%s takes a number or a text that is one", name)
			}
			return e.call(name, number)
		}
	}
	switch value := value.(type) {
	case []any:
		if name == "len" {
			return float64(len(value)), nil
		}
	case map[string]any:
		if name == "len" {
			return float64(len(value)), nil
		}
	case float64:
		switch name {
		case "abs":
			return math.Abs(value), nil
		case "int":
			return math.Trunc(value), nil
		case "float":
			return value, nil
		}
	}
	return nil, wrong("%s cannot be had of %s", name, kindOf(value))
}

// fact looks a fact up; what there is none of is nil.
func (e *evaluation) fact(key string) (any, error) {
	if value, known := e.facts[key]; known {
		return value, nil
	}
	if e.env.Fact == nil {
		return nil, wrong("may not ask for facts here")
	}
	if len(e.facts) == MaxFacts {
		return nil, wrong("reads more than %d facts", MaxFacts)
	}
	raw, ok, err := e.env.Fact(e.ctx, key)
	if err != nil {
		return nil, err
	}
	var value any
	if ok {
		if value, err = e.decode(raw, "the fact "+key); err != nil {
			return nil, err
		}
	}
	e.facts[key] = value
	return value, nil
}

func (e *evaluation) decode(raw json.RawMessage, what string) (value any, err error) {
	if len(raw) == 0 {
		return nil, nil
	}
	if err := e.spend(len(raw)); err != nil {
		return nil, err
	}
	if json.Unmarshal(raw, &value) != nil {
		return nil, wrong("cannot read %s: it is no JSON, or holds a number that is too large", what)
	}
	return value, nil
}
