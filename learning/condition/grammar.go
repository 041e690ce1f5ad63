package condition

import (
	"fmt"
	"slices"
	"strings"

	"skillrouter/learning"
)

// Grammar is what may stand in a condition of one kind. It holds nothing whose cost could grow:
// no regular expression, no list that is made while the condition runs, no loop in a loop.
type Grammar struct {
	Operators []string
	Functions []string // those of one value
	Loops     []string // those that try a condition on each of a list
	Folded    []string // names whose values are in lower case
	// Names are the names that a condition may use, and what their values are: a condition that
	// mixes kinds is refused when it is read. Loops run over those that are Texts. nil: whatever
	// is given when the condition is evaluated; then values may have members, and be nil.
	Names   map[string]Kind
	lookups []string // functions of our own, which take one literal text
}

func (g *Grammar) open() bool { return g.Names == nil }

// Parse reads a condition. An error says what is wrong with it.
func (g *Grammar) Parse(text string) (*Condition, error) {
	if len(text) > MaxLength {
		return nil, fmt.Errorf("is longer than %d bytes", MaxLength)
	}
	tokens, err := lex(text)
	if err != nil {
		return nil, err
	}
	p := parser{grammar: g, text: text, tokens: tokens}
	tree, err := p.expression(0)
	if err != nil {
		return nil, err
	}
	if !p.is(endToken) {
		return nil, p.unexpected()
	}
	if !g.open() {
		if err := g.must(tree, Truth); err != nil {
			return nil, err
		}
	}
	return &Condition{tree}, nil
}

// parser reads the tokens of a condition, by the precedence of operators.
type parser struct {
	grammar *Grammar
	text    string
	tokens  []token
	at      int
	nodes   int
	looping bool
}

// precedences of the binary operators: what binds tighter is higher.
var precedences = map[string]int{
	"or": 10, "||": 10, "and": 15, "&&": 15,
	"==": 20, "!=": 20, "<": 20, "<=": 20, ">": 20, ">=": 20, "in": 20, "contains": 20, "startsWith": 20, "endsWith": 20, "matches": 20, "is": 20,
	"..": 25, "+": 30, "-": 30, "*": 60, "/": 60, "%": 60, "**": 100, "^": 100, "??": 500, "|": 5,
}

// precedences of the operators before a value.
var unaries = map[string]int{"not": 50, "+": 90, "-": 90, "!": 1000}

func (p *parser) next() token         { return p.tokens[p.at] }
func (p *parser) is(k tokenKind) bool { return p.next().kind == k }

// take goes past a sign if it is the next token.
func (p *parser) take(sign string) bool {
	if p.next().is(sign) {
		p.at++
		return true
	}
	return false
}

func (p *parser) expect(sign string) error {
	if !p.take(sign) {
		return p.unexpected()
	}
	return nil
}

func (p *parser) unexpected() error {
	t := p.next()
	return noExpression(p.text, t.from, "%s is not expected", p.written(t))
}

func (p *parser) written(t token) string {
	if t.kind == endToken {
		return t.value
	}
	return p.text[t.from:t.to]
}

// since is the text from a place to the last token that was read.
func (p *parser) since(from int) span { return span(p.text[from:p.tokens[p.at-1].to]) }

// count counts a node.
func (p *parser) count() error {
	if p.nodes++; p.nodes > Nodes {
		return fmt.Errorf("has more than the maximum allowed nodes, %d: one that is larger is several", Nodes)
	}
	return nil
}

// expression reads what binds at least as tight as a precedence.
func (p *parser) expression(precedence int) (node, error) {
	from := p.next().from
	left, err := p.operand()
	for err == nil {
		operator, tokens, negated := p.operator()
		if at, known := precedences[operator]; !known || at < precedence {
			break
		}
		if !slices.Contains(p.grammar.Operators, operator) {
			return nil, fmt.Errorf("the operator %s is not accepted here", operator)
		}
		p.at += tokens
		left, err = p.binary(from, left, operator, negated)
	}
	if err != nil || precedence > 0 || !p.take("?") {
		return left, err
	}
	then, err := p.expression(0)
	if err != nil {
		return nil, err
	}
	if err := p.expect(":"); err != nil {
		return nil, err
	}
	otherwise, err := p.expression(0)
	if err != nil {
		return nil, err
	}
	return choiceNode{p.since(from), left, then, otherwise}, p.count()
}

// operator is the binary operator that comes next, of how many tokens it is, and whether "not"
// stands before it. A condition may be written as in Python: "is" and "is not" are == and !=.
func (p *parser) operator() (operator string, tokens int, negated bool) {
	t := p.next()
	if t.kind != signToken && !isOperatorWord(t) {
		return "", 0, false
	}
	after := p.tokens[min(p.at+1, len(p.tokens)-1)]
	isNot := isOperatorWord(after) && after.value == "not"
	switch {
	case t.value == "is" && isNot:
		return "!=", 2, false
	case t.value == "is":
		return "==", 1, false
	case t.value == "not" && isOperatorWord(after) && slices.Contains([]string{"in", "contains", "startsWith", "endsWith", "matches"}, after.value):
		return after.value, 2, true
	}
	return t.value, 1, false
}

// binary reads the right side of an operator. 1 < x < 3 is 1 < x and x < 3.
func (p *parser) binary(from int, left node, operator string, negated bool) (node, error) {
	var chain node
	for {
		start := p.next().from
		right, err := p.expression(precedences[operator] + 1)
		if err != nil {
			return nil, err
		}
		if err := p.grammar.mustFold(left, right); err != nil {
			return nil, err
		}
		var made node = binaryNode{p.since(from), operator, left, right}
		if chain != nil {
			made = binaryNode{p.since(from), "and", chain, made}
		}
		if negated {
			made = unaryNode{p.since(from), "not", made}
		}
		if err := p.count(); err != nil {
			return nil, err
		}
		further, _, _ := p.operator()
		if !ordered(operator) || !ordered(further) {
			return made, nil
		}
		if !slices.Contains(p.grammar.Operators, further) {
			return nil, fmt.Errorf("the operator %s is not accepted here", further)
		}
		p.at++
		chain, left, operator, from = made, right, further, min(from, start)
	}
}

func ordered(operator string) bool {
	return operator == "<" || operator == "<=" || operator == ">" || operator == ">="
}

// operand reads a value with the operators before it and the members after it.
func (p *parser) operand() (node, error) {
	t := p.next()
	if !t.is("(") {
		if err := p.count(); err != nil {
			return nil, err
		}
	}
	if precedence, unary := unaries[t.value]; unary && (t.kind == signToken || t.kind == wordToken) {
		p.at++
		of, err := p.expression(precedence)
		if err != nil {
			return nil, err
		}
		return unaryNode{p.since(t.from), t.value, of}, nil
	}
	value, err := p.value(t)
	for err == nil {
		switch value.(type) {
		case numberNode, truthNode, nilNode:
			return value, nil
		}
		switch {
		case p.take("."):
			name := p.next()
			if name.kind != wordToken {
				return nil, p.unexpected()
			}
			p.at++
			value, err = p.member(t.from, value, textNode{p.since(name.from), name.value})
		case p.take("["):
			var member node
			if member, err = p.expression(0); err != nil {
				return nil, err
			}
			if err = p.expect("]"); err == nil {
				value, err = p.member(t.from, value, member)
			}
		case p.next().is("("):
			return nil, fmt.Errorf("the function %s is not accepted here", value)
		case p.next().is("?."):
			return nil, fmt.Errorf("?. is not accepted here")
		default:
			return value, nil
		}
	}
	return nil, err
}

func (p *parser) member(from int, of, member node) (node, error) {
	if !p.grammar.open() {
		return nil, fmt.Errorf("%s is not accepted here: no value has members", p.since(from))
	}
	return memberNode{p.since(from), of, member}, p.count()
}

func (p *parser) value(t token) (node, error) {
	switch t.kind {
	case numberToken:
		p.at++
		return numberNode{p.since(t.from), t.number}, nil
	case textToken:
		p.at++
		return textNode{p.since(t.from), t.value}, nil
	case wordToken:
		return p.word(t)
	case signToken:
		switch t.value {
		case "(":
			p.at++
			inner, err := p.expression(0)
			if err != nil {
				return nil, err
			}
			return inner, p.expect(")")
		case "[":
			p.at++
			return p.list(t.from)
		case "#", ".":
			if !p.looping {
				return nil, noExpression(p.text, t.from, "# stands for each of a list, inside any, all, none, one or count")
			}
			if t.value == "#" { // .x is #.x
				p.at++
			}
			return eachNode{"#"}, nil
		case "{":
			return nil, fmt.Errorf("{ is not accepted here")
		}
	}
	return nil, p.unexpected()
}

func (p *parser) list(from int) (node, error) {
	var nodes []node
	for !p.take("]") {
		if len(nodes) > 0 {
			if err := p.expect(","); err != nil {
				return nil, err
			}
			if p.take("]") {
				break
			}
		}
		one, err := p.expression(0)
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, one)
	}
	return listNode{p.since(from), nodes}, nil
}

// word reads a name, a word that stands for a value, or a call.
func (p *parser) word(t token) (node, error) {
	if isOperatorWord(t) {
		return nil, p.unexpected()
	}
	p.at++
	switch t.value {
	case "nil", "None":
		if !p.grammar.open() {
			return nil, fmt.Errorf("%s is not accepted here", t.value)
		}
		return nilNode{p.since(t.from)}, nil
	case "true", "True":
		return truthNode{p.since(t.from), true}, nil
	case "false", "False":
		return truthNode{p.since(t.from), false}, nil
	case "let", "if":
		return nil, fmt.Errorf("%s is not accepted here", t.value)
	}
	if p.next().is("(") {
		return p.call(t)
	}
	return nameNode{p.since(t.from), t.value}, nil
}

// call reads the call of a function, a lookup or a loop.
func (p *parser) call(t token) (node, error) {
	g := p.grammar
	p.at++
	switch {
	case slices.Contains(g.Loops, t.value) && !p.looping:
		return p.loop(t)
	case !slices.Contains(g.Functions, t.value) && !slices.Contains(g.lookups, t.value):
		return nil, fmt.Errorf("the function %s is not accepted here", t.value)
	case slices.Contains(g.lookups, t.value) && (!p.is(textToken) || !p.tokens[p.at+1].is(")")):
		return nil, fmt.Errorf("%s takes one text in quotation marks", t.value)
	}
	argument, err := p.expression(0)
	if err != nil {
		return nil, err
	}
	p.take(",")
	if !p.take(")") {
		return nil, fmt.Errorf("%s takes one value", t.value)
	}
	return callNode{p.since(t.from), t.value, argument}, nil
}

// loop reads a list and the condition on each, which may stand in braces.
func (p *parser) loop(t token) (node, error) {
	over, err := p.expression(0)
	if err != nil {
		return nil, err
	}
	name, named := over.(nameNode)
	if !p.take(",") || !p.grammar.open() && (!named || p.grammar.Names[name.name] != Texts) {
		return nil, fmt.Errorf("%s takes %s and a condition on each", t.value, p.grammar.listed())
	}
	p.looping = true
	braces := p.take("{")
	each, err := p.expression(0)
	if err != nil {
		return nil, err
	}
	p.looping = false
	if braces {
		if err := p.expect("}"); err != nil {
			return nil, err
		}
	}
	p.take(",")
	if err := p.expect(")"); err != nil {
		return nil, err
	}
	return loopNode{p.since(t.from), t.value, over, each}, nil
}

// listed names what a loop takes.
func (g *Grammar) listed() string {
	var lists []string
	for name, kind := range g.Names {
		if kind == Texts {
			lists = append(lists, name)
		}
	}
	if lists == nil {
		return "a list"
	}
	slices.Sort(lists)
	return strings.Join(lists, " or ")
}

// mustFold refuses to compare a field that is in lower case with a text that
// is not: such a condition could never hold.
func (g *Grammar) mustFold(left, right node) error {
	for _, pair := range [][2]node{{left, right}, {right, left}} {
		field, ok := pair[0].(nameNode)
		if !ok || !slices.Contains(g.Folded, field.name) {
			continue
		}
		texts := []node{pair[1]}
		if list, ok := pair[1].(listNode); ok {
			texts = list.nodes
		}
		for _, one := range texts {
			if text, ok := one.(textNode); ok && learning.Fold(text.value) != text.value {
				return fmt.Errorf("%s is compared in lower case: write %q", field.name, learning.Fold(text.value))
			}
		}
	}
	return nil
}
