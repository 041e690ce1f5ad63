package condition

import (
	"cmp"
	"context"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"

	"skillrouter/internal/errs"
)

// evaluation is one evaluation of a condition. It walks the tree that the
// library has parsed, and not the library's machine, which goes on when nobody
// waits any more, takes 1/0 for infinity, and what is not there for nil.
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
	return errs.InvalidField("condition", format, args...)
}

// spend counts work.
func (e *evaluation) spend(n int) error {
	before := e.work >> 12
	if e.work += n; e.work > MaxWork {
		return wrong("takes too long: it reads and compares too much")
	}
	if e.work>>12 != before && e.ctx != nil && e.ctx.Err() != nil {
		return errs.Wrap(errs.Unavailable, e.ctx.Err(), "the condition was given up")
	}
	return nil
}

// value evaluates a node to what it is; what is absent is an error.
func (e *evaluation) value(node ast.Node) (any, error) {
	value, err := e.look(node)
	if err != nil {
		return nil, err
	}
	if none, ok := value.(absent); ok {
		return nil, wrong("%s", none.what)
	}
	return value, nil
}

// look evaluates a node, to absent if it is what nobody gave a value.
func (e *evaluation) look(node ast.Node) (any, error) {
	if err := e.spend(1); err != nil {
		return nil, err
	}
	switch n := node.(type) {
	case *ast.NilNode:
		return nil, nil
	case *ast.BoolNode:
		return n.Value, nil
	case *ast.IntegerNode:
		return float64(n.Value), nil
	case *ast.FloatNode:
		return n.Value, nil
	case *ast.StringNode:
		return n.Value, nil
	case *ast.PointerNode:
		return e.each, nil
	case *ast.IdentifierNode:
		return e.name(n.Value)
	case *ast.MemberNode:
		return e.member(n)
	case *ast.CallNode:
		return e.fact(n.Arguments[0].(*ast.StringNode).Value) // the grammar accepts no other call
	case *ast.UnaryNode:
		return e.unary(n)
	case *ast.BinaryNode:
		return e.binary(n)
	case *ast.ConditionalNode:
		held, err := e.truth(n.Cond)
		if err != nil {
			return nil, err
		}
		if held {
			return e.value(n.Exp1)
		}
		return e.value(n.Exp2)
	case *ast.ArrayNode:
		list := make([]any, len(n.Nodes))
		for i, node := range n.Nodes {
			var err error
			if list[i], err = e.value(node); err != nil {
				return nil, err
			}
		}
		return list, nil
	case *ast.BuiltinNode:
		if each, ok := n.Arguments[len(n.Arguments)-1].(*ast.PredicateNode); ok {
			return e.loop(n.Name, n.Arguments[0], each.Node)
		}
		argument, err := e.value(n.Arguments[0])
		if err != nil {
			return nil, err
		}
		return e.call(n.Name, argument)
	}
	return nil, wrong("%s is not accepted here", node.String())
}

func (e *evaluation) truth(node ast.Node) (bool, error) {
	value, err := e.value(node)
	if err != nil {
		return false, err
	}
	held, ok := value.(bool)
	if !ok {
		return false, wrong("must be true or false, and %s is %s: compare it with something", node.String(), kindOf(value))
	}
	return held, nil
}

func (e *evaluation) unary(n *ast.UnaryNode) (any, error) {
	if n.Operator == "not" || n.Operator == "!" {
		held, err := e.truth(n.Node)
		return !held, err
	}
	number, err := e.number(n.Node)
	if n.Operator == "-" {
		number = -number
	}
	return number, err
}

func (e *evaluation) number(node ast.Node) (float64, error) {
	value, err := e.value(node)
	if err != nil {
		return 0, err
	}
	number, ok := value.(float64)
	if !ok {
		return 0, wrong("must calculate with numbers, and %s is %s", node.String(), kindOf(value))
	}
	return number, nil
}

func (e *evaluation) binary(n *ast.BinaryNode) (any, error) {
	switch n.Operator {
	case "and", "&&", "or", "||":
		held, err := e.truth(n.Left)
		if decides := n.Operator == "or" || n.Operator == "||"; err != nil || held == decides {
			return held, err
		}
		return e.truth(n.Right)
	case "==", "!=":
		same, err := e.equality(n.Left, n.Right)
		return same == (n.Operator == "=="), err
	case "+", "-", "*", "/", "%":
		return e.arithmetic(n)
	}
	left, err := e.value(n.Left)
	if err != nil {
		return nil, err
	}
	right, err := e.value(n.Right)
	if err != nil {
		return nil, err
	}
	switch n.Operator {
	case "in":
		return e.within(right, left)
	case "contains", "startsWith", "endsWith":
		return e.part(n.Operator, left, right)
	}
	return e.order(n, left, right)
}

// equality compares two nodes; beside nil, what is absent is nil.
func (e *evaluation) equality(left, right ast.Node) (bool, error) {
	_, leftNil := left.(*ast.NilNode)
	_, rightNil := right.(*ast.NilNode)
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

func (e *evaluation) arithmetic(n *ast.BinaryNode) (any, error) {
	a, err := e.number(n.Left)
	if err != nil {
		return nil, err
	}
	b, err := e.number(n.Right)
	if err != nil {
		return nil, err
	}
	var result float64
	switch n.Operator {
	case "+":
		result = a + b
	case "-":
		result = a - b
	case "*":
		result = a * b
	case "/", "%":
		if b == 0 {
			return nil, wrong("divides by zero: %s is 0", n.Right.String())
		}
		if result = a / b; n.Operator == "%" {
			result = math.Mod(a, b)
		}
	}
	if math.IsInf(result, 0) || math.IsNaN(result) {
		return nil, wrong("%s is too large a number", n.String())
	}
	return result, nil
}

func (e *evaluation) order(n *ast.BinaryNode, left, right any) (any, error) {
	var sign int
	switch a := left.(type) {
	case float64:
		b, ok := right.(float64)
		if !ok {
			return nil, unordered(n, left, right)
		}
		sign = cmp.Compare(a, b)
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
	switch n.Operator {
	case "<":
		return sign < 0, nil
	case "<=":
		return sign <= 0, nil
	case ">":
		return sign > 0, nil
	}
	return sign >= 0, nil
}

func unordered(n *ast.BinaryNode, left, right any) error {
	return wrong("cannot compare %s with %s: %s is %s, and %s is %s", kindOf(left), kindOf(right), n.Left.String(), kindOf(left), n.Right.String(), kindOf(right))
}

// loop tries a condition on each of a list.
func (e *evaluation) loop(name string, over, each ast.Node) (any, error) {
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
