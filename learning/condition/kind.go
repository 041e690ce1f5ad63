package condition

import "fmt"

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
func (g *Grammar) kindOfNode(n node) (Kind, error) {
	switch n := n.(type) {
	case truthNode:
		return Truth, nil
	case numberNode:
		return Number, nil
	case textNode, eachNode:
		return Text, nil
	case nameNode:
		kind, known := g.Names[n.name]
		if !known {
			return "", fmt.Errorf("unknown name %s", n.name)
		}
		return kind, nil
	case listNode:
		for _, one := range n.nodes {
			if err := g.must(one, Text); err != nil {
				return "", err
			}
		}
		return Texts, nil
	case loopNode:
		if n.name == "count" {
			return Number, g.must(n.each, Truth)
		}
		return Truth, g.must(n.each, Truth)
	case callNode:
		of, err := g.kindOfNode(n.argument)
		switch {
		case err != nil:
			return "", err
		case n.name == "len" && (of == Text || of == Texts):
			return Number, nil
		case n.name == "len" || of != Text:
			return "", fmt.Errorf("mismatched types: %s cannot be had of a %s", n.name, of)
		}
		return Text, nil
	case unaryNode:
		kind := Number
		if n.operator == "not" || n.operator == "!" {
			kind = Truth
		}
		return kind, g.must(n.of, kind)
	case choiceNode:
		if err := g.must(n.cond, Truth); err != nil {
			return "", err
		}
		kind, err := g.kindOfNode(n.then)
		if err != nil {
			return "", err
		}
		return kind, g.must(n.otherwise, kind)
	case binaryNode:
		return Truth, g.compared(n)
	}
	return "", fmt.Errorf("%s is not accepted here", n)
}

// compared returns an error unless an operator can compare its two sides.
func (g *Grammar) compared(n binaryNode) error {
	left, err := g.kindOfNode(n.left)
	if err != nil {
		return err
	}
	if list, ok := n.right.(listNode); ok && n.operator == "in" {
		for _, one := range list.nodes {
			if err := g.must(one, left); err != nil {
				return fmt.Errorf("mismatched types: %w", err)
			}
		}
		return nil
	}
	right, err := g.kindOfNode(n.right)
	if err != nil {
		return err
	}
	fits := left == right
	switch n.operator {
	case "and", "&&", "or", "||":
		if left != Truth {
			return g.must(n.left, Truth)
		}
		return g.must(n.right, Truth)
	case "<", "<=", ">", ">=":
		fits = fits && (left == Text || left == Number)
	case "in":
		fits = left == Text && (right == Text || right == Texts)
	case "contains", "startsWith", "endsWith":
		fits = fits && left == Text
	}
	if !fits {
		return fmt.Errorf("mismatched types: %s is a %s, and %s a %s", n.left, left, n.right, right)
	}
	return nil
}

// must returns an error unless a node gives a kind.
func (g *Grammar) must(n node, kind Kind) error {
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
