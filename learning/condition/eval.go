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

	"github.com/skillrouter/skillrouter/internal/errs"
)

// evaluation is one evaluation of a condition. It walks the tree that the
// library has parsed, and not the library's machine, which goes on when nobody
// waits any more, takes 1/0 for infinity, and what is not there for nil.
//
// What is wrong ends the evaluation by a panic of a stopped, as in other evaluators that go down a tree; run returns its error.
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

// stopped ends an evaluation.
type stopped struct{ err error }

// fail ends the evaluation with an error of the condition.
func fail(format string, args ...any) {
	panic(stopped{errs.InvalidField("condition", format, args...)})
}

// run evaluates a condition, and returns the error that ended it.
func (e *evaluation) run(node ast.Node) (held bool, err error) {
	defer func() {
		if p := recover(); p != nil {
			end, is := p.(stopped)
			if !is {
				panic(p)
			}
			held, err = false, end.err
		}
	}()
	return e.truth(node), nil
}

// spend counts work.
func (e *evaluation) spend(n int) {
	before := e.work >> 12
	if e.work += n; e.work > MaxWork {
		fail("takes too long: it reads and compares too much")
	}
	if e.work>>12 != before && e.ctx != nil && e.ctx.Err() != nil {
		panic(stopped{errs.Wrap(errs.Unavailable, e.ctx.Err(), "the condition was given up")})
	}
}

// value evaluates a node to what it is; what is absent is an error.
func (e *evaluation) value(node ast.Node) any {
	value := e.look(node)
	if none, ok := value.(absent); ok {
		fail("%s", none.what)
	}
	return value
}

// look evaluates a node, to absent if it is what nobody gave a value.
func (e *evaluation) look(node ast.Node) any {
	e.spend(1)
	switch n := node.(type) {
	case *ast.NilNode:
		return nil
	case *ast.BoolNode:
		return n.Value
	case *ast.IntegerNode:
		return float64(n.Value)
	case *ast.FloatNode:
		return n.Value
	case *ast.StringNode:
		return n.Value
	case *ast.PointerNode:
		return e.each
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
		if e.truth(n.Cond) {
			return e.value(n.Exp1)
		}
		return e.value(n.Exp2)
	case *ast.ArrayNode:
		list := make([]any, len(n.Nodes))
		for i, node := range n.Nodes {
			list[i] = e.value(node)
		}
		return list
	case *ast.BuiltinNode:
		if each, ok := n.Arguments[len(n.Arguments)-1].(*ast.PredicateNode); ok {
			return e.loop(n.Name, n.Arguments[0], each.Node)
		}
		return e.call(n.Name, e.value(n.Arguments[0]))
	}
	fail("%s is not accepted here", node.String())
	return nil
}

func (e *evaluation) truth(node ast.Node) bool {
	value := e.value(node)
	held, ok := value.(bool)
	if !ok {
		fail("must be true or false, and %s is %s: compare it with something", node.String(), kindOf(value))
	}
	return held
}

func (e *evaluation) unary(n *ast.UnaryNode) any {
	switch n.Operator {
	case "not", "!":
		return !e.truth(n.Node)
	case "-":
		return -e.number(n.Node)
	}
	return e.number(n.Node)
}

func (e *evaluation) number(node ast.Node) float64 {
	value := e.value(node)
	number, ok := value.(float64)
	if !ok {
		fail("must calculate with numbers, and %s is %s", node.String(), kindOf(value))
	}
	return number
}

func (e *evaluation) binary(n *ast.BinaryNode) any {
	switch n.Operator {
	case "and", "&&":
		return e.truth(n.Left) && e.truth(n.Right)
	case "or", "||":
		return e.truth(n.Left) || e.truth(n.Right)
	case "==":
		return e.equality(n.Left, n.Right)
	case "!=":
		return !e.equality(n.Left, n.Right)
	case "+", "-", "*", "/", "%":
		return e.arithmetic(n)
	}
	left, right := e.value(n.Left), e.value(n.Right)
	switch n.Operator {
	case "in":
		return e.within(right, left)
	case "contains", "startsWith", "endsWith":
		return e.part(n.Operator, left, right)
	}
	return e.order(n, left, right)
}

// equality compares two nodes; beside nil, what is absent is nil.
func (e *evaluation) equality(left, right ast.Node) bool {
	_, leftNil := left.(*ast.NilNode)
	_, rightNil := right.(*ast.NilNode)
	if !leftNil && !rightNil {
		return e.equal(e.value(left), e.value(right))
	}
	if leftNil {
		left = right
	}
	value := e.look(left)
	_, none := value.(absent)
	return none || value == nil
}

func (e *evaluation) arithmetic(n *ast.BinaryNode) float64 {
	a, b := e.number(n.Left), e.number(n.Right)
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
			fail("divides by zero: %s is 0", n.Right.String())
		}
		if result = a / b; n.Operator == "%" {
			result = math.Mod(a, b)
		}
	}
	if math.IsInf(result, 0) || math.IsNaN(result) {
		fail("%s is too large a number", n.String())
	}
	return result
}

func (e *evaluation) order(n *ast.BinaryNode, left, right any) bool {
	sign := 0
	number, isNumber := left.(float64)
	other, areNumbers := right.(float64)
	text, isText := left.(string)
	second, areTexts := right.(string)
	switch {
	case isNumber && areNumbers:
		sign = cmp.Compare(number, other)
	case isText && areTexts:
		e.spend(min(len(text), len(second)))
		sign = strings.Compare(text, second)
	default:
		fail("cannot compare %s with %s: %s is %s, and %s is %s", kindOf(left), kindOf(right), n.Left.String(), kindOf(left), n.Right.String(), kindOf(right))
	}
	switch n.Operator {
	case "<":
		return sign < 0
	case "<=":
		return sign <= 0
	case ">":
		return sign > 0
	}
	return sign >= 0
}

// loop tries a condition on each of a list.
func (e *evaluation) loop(name string, over, each ast.Node) any {
	value := e.value(over)
	list, ok := value.([]any)
	if !ok {
		fail("%s goes through a list, and %s is %s", name, over.String(), kindOf(value))
	}
	held := 0
	for _, e.each = range list {
		if e.truth(each) {
			held++
		}
	}
	switch name {
	case "any":
		return held > 0
	case "all":
		return held == len(list)
	case "none":
		return held == 0
	case "one":
		return held == 1
	}
	return float64(held)
}

func (e *evaluation) call(name string, value any) any {
	if text, ok := value.(string); ok {
		e.spend(len(text))
		switch name {
		case "len":
			return float64(utf8.RuneCountInString(text))
		case "lower":
			return strings.ToLower(text)
		case "upper":
			return strings.ToUpper(text)
		case "trim":
			return strings.TrimSpace(text)
		case "int", "float":
			number, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
			if err != nil || math.IsInf(number, 0) || math.IsNaN(number) {
				fail("%s takes a number or a text that is one", name)
			}
			return e.call(name, number)
		}
	}
	switch value := value.(type) {
	case []any:
		if name == "len" {
			return float64(len(value))
		}
	case map[string]any:
		if name == "len" {
			return float64(len(value))
		}
	case float64:
		switch name {
		case "abs":
			return math.Abs(value)
		case "int":
			return math.Trunc(value)
		case "float":
			return value
		}
	}
	fail("%s cannot be had of %s", name, kindOf(value))
	return nil
}

// fact looks a fact up; what there is none of is nil.
func (e *evaluation) fact(key string) any {
	if value, known := e.facts[key]; known {
		return value
	}
	if e.env.Fact == nil {
		fail("may not ask for facts here")
	}
	if len(e.facts) == MaxFacts {
		fail("reads more than %d facts", MaxFacts)
	}
	raw, ok, err := e.env.Fact(e.ctx, key)
	if err != nil {
		panic(stopped{err})
	}
	var value any
	if ok {
		value = e.decode(raw, "the fact "+key)
	}
	e.facts[key] = value
	return value
}

func (e *evaluation) decode(raw json.RawMessage, what string) (value any) {
	if len(raw) == 0 {
		return nil
	}
	e.spend(len(raw))
	if json.Unmarshal(raw, &value) != nil {
		fail("cannot read %s: it is no JSON, or holds a number that is too large", what)
	}
	return value
}
