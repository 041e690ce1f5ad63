package condition

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/checker"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/parser/lexer"

	"github.com/skillrouter/skillrouter/learning"
)

// Grammar is what may stand in a condition of one kind. The expression
// library reads a condition, and its machine is not used: it can neither be
// cancelled nor have its functions switched off. What was read must hold
// nothing whose cost could grow: no regular expression, no list that is made
// while the condition runs, no loop in a loop.
type Grammar struct {
	Operators []string
	Functions []string // those of one value
	Loops     []string // those that try a condition on each of a list
	Folded    []string // names whose values are in lower case
	// Names are the names that a condition may use, each with a value of its type: a condition that
	// mixes types is refused when it is read. Loops run over those that are lists. nil: whatever
	// is given when the condition is evaluated; then values may have members, and be nil.
	Names   map[string]any
	lookups []string // functions of our own, which take one literal text
}

func (g *Grammar) open() bool { return g.Names == nil }

// Parse reads a condition. An error says what is wrong with it. The library has panicked on texts that are no expression.
func (g *Grammar) Parse(text string) (c *Condition, err error) {
	defer func() {
		if p := recover(); p != nil {
			c, err = nil, fmt.Errorf("is no expression: %v", p)
		}
	}()
	if len(text) > MaxLength {
		return nil, fmt.Errorf("is longer than %d bytes", MaxLength)
	}
	if !utf8.ValidString(text) {
		return nil, errors.New("is not valid UTF-8")
	}
	config := conf.CreateNew()
	config.MaxNodes, config.DisableIfOperator = Nodes, true // if and else are names
	parsed, err := parser.ParseWithConfig(fromPython(text), config)
	if err != nil {
		return nil, located("is no expression: ", err)
	}
	if err := g.allowed(parsed.Node, false); err != nil {
		return nil, err
	}
	if !g.open() {
		config.WithEnv(g.Names)
		config.Expect = reflect.Bool
		if _, err := checker.Check(parsed, config); err != nil {
			return nil, located("", err)
		}
	}
	return &Condition{parsed.Node}, nil
}

// located is an error of the library without the excerpt that it draws.
func located(lead string, err error) error {
	if at, ok := errors.AsType[*file.Error](err); ok {
		return fmt.Errorf("%s%s, at column %d", lead, strings.TrimSpace(strings.Replace(at.Message, "token EOF", "end", 1)), at.Column+1)
	}
	return err
}

// fromPython puts the library's words in the place of Python's, each at its
// place, so that columns of errors stay true. Integers that the library's do not hold become fractions.
func fromPython(text string) string {
	tokens, err := lexer.Lex(file.NewSource(text))
	if err != nil {
		return text // the parser says what is wrong
	}
	runes := []rune(text)
	put := func(token lexer.Token, word string) {
		for i := token.From; i < min(token.To, len(runes)); i++ {
			runes[i] = ' '
		}
		copy(runes[token.From:], []rune(word))
	}
	for i, token := range slices.Backward(tokens) {
		digits := strings.ReplaceAll(token.Value, "_", "")
		if _, err := strconv.ParseInt(digits, 10, 64); token.Is(lexer.Number) && errors.Is(err, strconv.ErrRange) && strings.Trim(digits, "0123456789") == "" {
			runes = slices.Insert(runes, token.To, 'e', '0')
		}
		if !token.Is(lexer.Identifier) || i > 0 && tokens[i-1].Is(lexer.Operator, ".", "?.") {
			continue
		}
		switch token.Value {
		case "None":
			put(token, "nil")
		case "True":
			put(token, "true")
		case "False":
			put(token, "false")
		case "is":
			put(token, "==")
			if next := tokens[i+1]; next.Is(lexer.Operator, "not") { // the last token is the end's
				put(token, "!=")
				put(next, "")
			}
		}
	}
	return string(runes)
}

// allowed returns an error unless node and all below it may stand in a
// condition; looping tells whether it is evaluated for each of a list.
func (g *Grammar) allowed(node ast.Node, looping bool) error {
	switch n := node.(type) {
	case *ast.IdentifierNode:
		if n.Value == "if" {
			return errors.New("if is not accepted here")
		}
		return nil
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.StringNode:
		return nil
	case *ast.NilNode:
		if g.open() {
			return nil
		}
		return errors.New("nil or None is not accepted here")
	case *ast.PointerNode:
		if !looping || n.Name != "" {
			return fmt.Errorf("# stands for each of a list, inside any, all, none, one or count")
		}
		return nil
	case *ast.MemberNode:
		if g.open() && !n.Optional && !n.Method {
			return g.allAllowed(looping, n.Node, n.Property)
		}
		if !g.open() {
			return fmt.Errorf("%s is not accepted here: no value has members", node)
		}
	case *ast.UnaryNode:
		return g.allowed(n.Node, looping)
	case *ast.BinaryNode:
		if !slices.Contains(g.Operators, n.Operator) {
			return fmt.Errorf("the operator %s is not accepted here", n.Operator)
		}
		if err := g.mustFold(n.Left, n.Right); err != nil {
			return err
		}
		return g.allAllowed(looping, n.Left, n.Right)
	case *ast.ConditionalNode:
		return g.allAllowed(looping, n.Cond, n.Exp1, n.Exp2)
	case *ast.ArrayNode:
		return g.allAllowed(looping, n.Nodes...)
	case *ast.BuiltinNode:
		return g.builtin(n, looping)
	case *ast.CallNode:
		callee, named := n.Callee.(*ast.IdentifierNode)
		switch {
		case !named || !slices.Contains(g.lookups, callee.Value):
			return fmt.Errorf("the function %s is not accepted here", n.Callee.String())
		case len(n.Arguments) != 1 || !isText(n.Arguments[0]):
			return fmt.Errorf("%s takes one text in quotation marks", callee.Value)
		}
		return nil
	}
	return fmt.Errorf("%s is not accepted here", node.String())
}

// builtin holds a call of the library's functions to those whose cost is that of their arguments.
func (g *Grammar) builtin(n *ast.BuiltinNode, looping bool) error {
	switch {
	case slices.Contains(g.Functions, n.Name):
		if len(n.Arguments) != 1 {
			return fmt.Errorf("%s takes one value", n.Name)
		}
		return g.allAllowed(looping, n.Arguments...)
	case slices.Contains(g.Loops, n.Name) && !looping && len(n.Arguments) == 2:
		each, predicate := n.Arguments[1].(*ast.PredicateNode)
		over, named := n.Arguments[0].(*ast.IdentifierNode)
		if !predicate || !g.open() && !(named && slices.Contains(g.lists(), over.Value)) {
			return fmt.Errorf("%s takes %s and a condition on each", n.Name, cmp.Or(strings.Join(g.lists(), " or "), "a list"))
		}
		if err := g.allowed(n.Arguments[0], false); err != nil {
			return err
		}
		return g.allowed(each.Node, true)
	}
	return fmt.Errorf("the function %s is not accepted here", n.Name)
}

// lists are the names that a loop may take; none means that it takes any list.
func (g *Grammar) lists() (lists []string) {
	for name, value := range g.Names {
		if _, is := value.([]string); is {
			lists = append(lists, name)
		}
	}
	slices.Sort(lists)
	return lists
}

func isText(node ast.Node) bool {
	_, ok := node.(*ast.StringNode)
	return ok
}

func (g *Grammar) allAllowed(looping bool, nodes ...ast.Node) error {
	for _, node := range nodes {
		if err := g.allowed(node, looping); err != nil {
			return err
		}
	}
	return nil
}

// mustFold refuses to compare a field that is in lower case with a text that
// is not: such a condition could never hold.
func (g *Grammar) mustFold(left, right ast.Node) error {
	for _, pair := range [][2]ast.Node{{left, right}, {right, left}} {
		field, ok := pair[0].(*ast.IdentifierNode)
		if !ok || !slices.Contains(g.Folded, field.Value) {
			continue
		}
		texts := []ast.Node{pair[1]}
		if list, ok := pair[1].(*ast.ArrayNode); ok {
			texts = list.Nodes
		}
		for _, node := range texts {
			if text, ok := node.(*ast.StringNode); ok && learning.Fold(text.Value) != text.Value {
				return fmt.Errorf("%s is compared in lower case: write %q", field.Value, learning.Fold(text.Value))
			}
		}
	}
	return nil
}
