package markup

import (
	"fmt"
	"slices"
	"strings"
	"text/template/parse"
)

// place is where in a page a template has come to. The zero value is between tags.
type place struct {
	state   state
	element string // whose tag, or whose raw text
	quote   byte   // of the value
	value   valueKind
	part    escape // of an address
}

type state int

const (
	between state = iota // tags
	inTag
	inValue // of an attribute
	inRaw   // in a script or a style
)

type valueKind int

const (
	plainValue   valueKind = iota
	addressValue           // an address
	codeValue              // a script, a style or a list of addresses
)

// checker follows templates through the pages that they make, and notes how each value is escaped.
type checker struct {
	templates *Templates
	seen      map[visit]bool
}

// visit is a template at a place.
type visit struct {
	name string
	at   place
}

// template checks a template that begins at a place; it must end at the same.
func (c *checker) template(name string, at place) error {
	if c.seen[visit{name, at}] {
		return nil
	}
	c.seen[visit{name, at}] = true
	tree := c.templates.trees[name]
	if tree == nil {
		return fmt.Errorf("there is no template %q", name)
	}
	end, err := c.list(tree.Root, at)
	if err != nil {
		return fmt.Errorf("template %s: %w", name, err)
	}
	if end != at {
		return fmt.Errorf("template %s does not end where it began: in a text, a tag or a value", name)
	}
	return nil
}

func (c *checker) list(list *parse.ListNode, at place) (place, error) {
	if list == nil {
		return at, nil
	}
	for _, node := range list.Nodes {
		var err error
		if at, err = c.node(node, at); err != nil {
			return at, err
		}
	}
	return at, nil
}

func (c *checker) node(node parse.Node, at place) (place, error) {
	switch n := node.(type) {
	case *parse.TextNode:
		return at.after(string(n.Text))
	case *parse.ActionNode:
		if n.Pipe.IsAssign {
			return at, wrong(n, "a variable keeps its first value")
		}
		if len(n.Pipe.Decl) > 0 {
			return at, nil
		}
		how, err := at.escape()
		if err != nil {
			return at, wrong(n, "%v", err)
		}
		if before, known := c.templates.escapes[n]; known && before != how {
			return at, wrong(n, "comes to two places that are escaped otherwise")
		}
		c.templates.escapes[n] = how
		return at, nil
	case *parse.TemplateNode:
		return at, c.template(n.Name, at)
	case *parse.IfNode:
		return c.branches(&n.BranchNode, at)
	case *parse.WithNode:
		return c.branches(&n.BranchNode, at)
	case *parse.RangeNode:
		end, err := c.branches(&n.BranchNode, at)
		if err == nil && end != at {
			err = wrong(n, "does not end where it began: in a text, a tag or a value")
		}
		return end, err
	case *parse.CommentNode:
		return at, nil
	}
	return at, wrong(node, "is not known here")
}

// branches checks both branches; they must end at the same place.
func (c *checker) branches(n *parse.BranchNode, at place) (place, error) {
	one, err := c.list(n.List, at)
	if err != nil {
		return one, err
	}
	other, err := c.list(n.ElseList, at)
	if err == nil && one != other {
		err = wrong(n, "its branches end at different places: a text, a tag or a value")
	}
	return one, err
}

// escape says how a value at this place is escaped.
func (p place) escape() (escape, error) {
	switch {
	case p.state == between:
		return inText, nil
	case p.state == inValue && p.value == plainValue:
		return inText, nil
	case p.state == inValue && p.value == addressValue:
		return p.part, nil
	case p.state == inRaw || p.state == inValue:
		return 0, fmt.Errorf("a script or a style cannot be made by a template")
	}
	return 0, fmt.Errorf("a tag cannot be made by a template: only what is between tags, and values in quotation marks")
}

// after is the place behind a text that stands in the template itself.
func (p place) after(text string) (place, error) {
	for text != "" {
		var err error
		switch p.state {
		case between:
			_, tag, found := strings.Cut(text, "<")
			if !found {
				return p, nil
			}
			if strings.HasPrefix(tag, "!--") {
				return p, fmt.Errorf("a comment in a page: write {{/* */}}")
			}
			p, text = place{state: inTag, element: elementOf(tag)}, tag
		case inTag:
			p, text, err = p.tag(text)
			if err != nil {
				return p, err
			}
		case inValue:
			end := strings.IndexByte(text, p.quote)
			inside := text
			if end >= 0 {
				inside = text[:end]
			}
			p.part = p.part.followed(inside)
			if end < 0 {
				return p, nil
			}
			p, text = place{state: inTag, element: p.element}, text[end+1:]
		case inRaw:
			_, rest, found := strings.Cut(text, "</"+p.element)
			if !found {
				return p, nil
			}
			p, text = place{state: inTag, element: "/" + p.element}, rest
		}
	}
	return p, nil
}

// elementOf is the name of a tag's element, in lower case; a tag that ends one begins with /.
func elementOf(tag string) string {
	end := strings.IndexFunc(tag, func(r rune) bool { return r <= ' ' || r == '>' || r == '/' && !strings.HasPrefix(tag, "/") })
	if end < 0 {
		end = len(tag)
	}
	return strings.ToLower(tag[:end])
}

// tag goes on to the end of a tag, or into the next value.
func (p place) tag(text string) (place, string, error) {
	at := strings.IndexAny(text, `>="'`)
	if at < 0 {
		return p, "", nil
	}
	switch text[at] {
	case '>':
		p.state = between
		if p.element == "script" || p.element == "style" {
			p.state = inRaw
			return p, text[at+1:], nil
		}
		return place{}, text[at+1:], nil
	case '=':
		before := strings.Fields(text[:at])
		if rest := text[at+1:]; len(before) > 0 && rest != "" && (rest[0] == '"' || rest[0] == '\'') {
			p.state, p.quote, p.value = inValue, rest[0], valueOf(strings.ToLower(before[len(before)-1]))
			if p.value == addressValue {
				p.part = startURL
			}
			return p, rest[1:], nil
		}
	}
	return p, "", fmt.Errorf("an attribute of %s whose value is not in quotation marks, or whose name is not beside it: %.40q", p.element, text)
}

// addresses are the attributes whose values are addresses.
var addresses = []string{"action", "background", "cite", "data", "formaction", "href", "longdesc", "manifest", "ping", "poster", "src", "usemap", "xmlns"}

// valueOf is the kind of an attribute's value.
func valueOf(attribute string) valueKind {
	attribute = strings.TrimPrefix(attribute, "data-")
	if _, local, namespaced := strings.Cut(attribute, ":"); namespaced {
		attribute = local
	}
	switch {
	case strings.HasPrefix(attribute, "on"), attribute == "style", attribute == "srcset", attribute == "srcdoc":
		return codeValue
	case slices.Contains(addresses, attribute), strings.Contains(attribute, "src"), strings.Contains(attribute, "uri"), strings.Contains(attribute, "url"):
		return addressValue
	}
	return plainValue
}

// followed is how what comes behind a text in a value is escaped.
func (e escape) followed(text string) escape {
	switch {
	case e == inText:
		return inText
	case strings.ContainsAny(text, "#?"):
		return queryURL
	case e == startURL && strings.TrimSpace(text) != "":
		return partURL
	}
	return e
}
