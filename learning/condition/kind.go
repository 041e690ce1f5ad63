package condition

import (
	"fmt"

	"github.com/expr-lang/expr/ast"
)

// Kind is what the value of a name is.
type Kind string

// The kinds of values in a condition whose names are known.
const (
	Text   Kind = "text"
	Number Kind = "number"
	Truth  Kind = "truth" // true or false
	Texts  Kind = "list of texts"
)

// kindOfNode says what a node of a condition over known names gives, or why it cannot give anything.
func (g *Grammar) kindOfNode(n ast.Node) (Kind, error) {
	switch n := n.(type) {
	case *ast.BoolNode:
		return Truth, nil
	case *ast.IntegerNode, *ast.FloatNode:
		return Number, nil
	case *ast.StringNode, *ast.PointerNode:
		return Text, nil
	case *ast.IdentifierNode:
		kind, known := g.Names[n.Value]
		if !known {
			return "", fmt.Errorf("unknown name %s", n.Value)
		}
		return kind, nil
	case *ast.ArrayNode:
		for _, one := range n.Nodes {
			if err := g.must(one, Text); err != nil {
				return "", err
			}
		}
		return Texts, nil
	case *ast.BuiltinNode:
		if each, ok := n.Arguments[len(n.Arguments)-1].(*ast.PredicateNode); ok {
			if n.Name == "count" {
				return Number, g.must(each.Node, Truth)
			}
			return Truth, g.must(each.Node, Truth)
		}
		of, err := g.kindOfNode(n.Arguments[0])
		switch {
		case err != nil:
			return "", err
		case n.Name == "len" && (of == Text || of == Texts):
			return Number, nil
		case n.Name == "len" || of != Text:
			return "", fmt.Errorf("mismatched types: %s cannot be had of a %s", n.Name, of)
		}
		return Text, nil
	case *ast.UnaryNode:
		kind := Number
		if n.Operator == "not" || n.Operator == "!" {
			kind = Truth
		}
		return kind, g.must(n.Node, kind)
	case *ast.ConditionalNode:
		if err := g.must(n.Cond, Truth); err != nil {
			return "", err
		}
		kind, err := g.kindOfNode(n.Exp1)
		if err != nil {
			return "", err
		}
		return kind, g.must(n.Exp2, kind)
	case *ast.BinaryNode:
		return Truth, g.compared(n)
	}
	return "", fmt.Errorf("%s is not accepted here", n)
}

// compared returns an error unless an operator can compare its two sides.
func (g *Grammar) compared(n *ast.BinaryNode) error {
	left, err := g.kindOfNode(n.Left)
	if err != nil {
		return err
	}
	if list, ok := n.Right.(*ast.ArrayNode); ok && n.Operator == "in" {
		for _, one := range list.Nodes {
			if err := g.must(one, left); err != nil {
				return fmt.Errorf("mismatched types: %w", err)
			}
		}
		return nil
	}
	right, err := g.kindOfNode(n.Right)
	if err != nil {
		return err
	}
	fits := left == right
	switch n.Operator {
	case "and", "&&", "or", "||":
		if left != Truth {
			return g.must(n.Left, Truth)
		}
		return g.must(n.Right, Truth)
	case "<", "<=", ">", ">=":
		fits = fits && (left == Text || left == Number)
	case "in":
		fits = left == Text && (right == Text || right == Texts)
	case "contains", "startsWith", "endsWith":
		fits = fits && left == Text
	}
	if !fits {
		return fmt.Errorf("mismatched types: %s is a %s, and %s a %s", n.Left, left, n.Right, right)
	}
	return nil
}

// must returns an error unless a node gives a kind.
func (g *Grammar) must(n ast.Node, kind Kind) error {
	is, err := g.kindOfNode(n)
	if err == nil && is != kind {
		want := string(kind)
		if kind == Truth {
			want = "true or false (expected bool)"
		}
		return fmt.Errorf("%s must be a %s, and is a %s", n, want, is)
	}
	return err
}
