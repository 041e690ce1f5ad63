package condition

import (
	"errors"
	"fmt"
	"slices"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"

	"skillrouter/learning"
)

// Grammar is what may stand in a condition of one kind. The expression
// library can neither be cancelled nor have its functions switched off, so a
// condition is read first, and must hold nothing whose cost could grow: no
// regular expression, no list that is made while it runs, no loop in a loop.
type Grammar struct {
	Operators []string
	Functions []string // of the library's, those that take values alone
	Loops     []string // of the library's, those that try a condition on each of a list
	Lists     []string // the names that loops run over; nil: whatever is a list then
	lookups   []string // functions of our own, which take one literal text
	open      bool     // values may have members, and be nil
	Folded    []string // names whose values are in lower case
}

// Parse reads a condition. The library has panicked on texts that are no expression.
func (g *Grammar) Parse(condition string) (tree ast.Node, err error) {
	defer func() {
		if p := recover(); p != nil {
			tree, err = nil, fmt.Errorf("is no expression: %v", p)
		}
	}()
	if len(condition) > MaxLength {
		return nil, fmt.Errorf("is longer than %d bytes", MaxLength)
	}
	config := conf.CreateNew()
	config.MaxNodes = Nodes
	parsed, err := parser.ParseWithConfig(condition, config)
	if at, ok := errors.AsType[*file.Error](err); ok {
		return nil, fmt.Errorf("is no expression: %s, at column %d", at.Message, at.Column+1)
	}
	if err != nil {
		return nil, err
	}
	return parsed.Node, g.allowed(parsed.Node, false)
}

// allowed returns an error unless node and all below it may stand in a
// condition; looping tells whether it is evaluated for each of a list.
func (g *Grammar) allowed(node ast.Node, looping bool) error {
	switch n := node.(type) {
	case *ast.IdentifierNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.StringNode:
		return nil
	case *ast.NilNode:
		if g.open {
			return nil
		}
	case *ast.PointerNode:
		if !looping || n.Name != "" {
			return fmt.Errorf("# stands for each of a list, inside any, all, none, one or count")
		}
		return nil
	case *ast.MemberNode:
		if g.open && !n.Optional && !n.Method {
			return g.allAllowed(looping, n.Node, n.Property)
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
		if g.open && len(n.Arguments) != 1 {
			return fmt.Errorf("%s takes one value", n.Name)
		}
		return g.allAllowed(looping, n.Arguments...)
	case slices.Contains(g.Loops, n.Name) && !looping && len(n.Arguments) == 2:
		each, predicate := n.Arguments[1].(*ast.PredicateNode)
		over, named := n.Arguments[0].(*ast.IdentifierNode)
		if !predicate || g.Lists != nil && !(named && slices.Contains(g.Lists, over.Value)) {
			return fmt.Errorf("%s takes %s and a condition on each", n.Name, g.listed())
		}
		if err := g.allowed(n.Arguments[0], false); err != nil {
			return err
		}
		return g.allowed(each.Node, true)
	}
	return fmt.Errorf("the function %s is not accepted here", n.Name)
}

func (g *Grammar) listed() string {
	if g.Lists == nil {
		return "a list"
	}
	return g.Lists[0]
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
