package act

import (
	"io"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// arithmetic knows plain numbers only.
func (s *Shell) arithmetic(x syntax.ArithmExpr) string {
	if w, ok := x.(*syntax.Word); ok {
		if v := s.text(w); v != "" {
			if _, err := strconv.Atoi(v); err == nil {
				return v
			}
		}
	} else if x != nil {
		s.substitutions(x)
	}
	return string(Unknown)
}

// maxOperated bounds the value of a variable that is cut or replaced in, in bytes: shells do it by hand for names and paths.
const maxOperated = 512

// parameter evaluates a parameter. One that the script never set stands for
// itself, written ${NAME}, so that the same variable is the same text.
func (s *Shell) parameter(p *syntax.ParamExp) (values []string, array bool) {
	unknown := []string{string(Unknown)}
	if p.Param == nil {
		return unknown, false
	}
	name := p.Param.Value
	value, set := s.lookup(name)
	array = name == "@" || name == "*"
	if w, ok := p.Index.(*syntax.Word); ok {
		switch index := s.text(w); index {
		case "@", "*", string(AnyText):
			array = true
		default:
			n, err := strconv.Atoi(index)
			if err != nil || n < 0 || n >= len(value) {
				return unknown, false
			}
			value = value[n : n+1]
		}
	}
	if p.Excl {
		if len(value) != 1 || p.Names != 0 {
			return unknown, false
		}
		name = value[0]
		value, set = s.lookup(name)
	}
	if !array && len(value) > 1 {
		value = value[:1]
	}
	operates := p.Slice != nil || p.Repl != nil || p.Length
	if p.Exp != nil {
		switch null := !set || len(value) == 0 || len(value) == 1 && value[0] == ""; p.Exp.Op {
		case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
			if !null {
				return value, array
			}
			v := s.text(p.Exp.Word)
			if p.Exp.Op == syntax.AssignUnset || p.Exp.Op == syntax.AssignUnsetOrNull {
				s.set(name, shellValue{v})
			}
			return []string{v}, false
		case syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
			// What the variable holds outside is not known: the alternative is what could happen.
			return []string{s.text(p.Exp.Word)}, false
		case syntax.RemSmallPrefix, syntax.RemLargePrefix, syntax.RemSmallSuffix, syntax.RemLargeSuffix:
			operates = true
		}
	}
	switch {
	case !set && operates:
		return unknown, false
	case !set && array:
		return nil, true
	case !set:
		return []string{"${" + name + "}"}, false
	case operates || p.Exp != nil:
		return s.operate(p, value), array && !p.Length
	}
	return value, array
}

// operate has each value of a variable cut, replaced in or counted as the expansion says.
func (s *Shell) operate(p *syntax.ParamExp, value []string) (out []string) {
	if p.Length {
		value = []string{strings.Join(value, " ")}
	}
	plain := *p
	plain.Param, plain.Index, plain.Excl = &syntax.Lit{Value: "x"}, nil, false
	config := &expand.Config{CmdSubst: func(w io.Writer, c *syntax.CmdSubst) error {
		_, err := io.WriteString(w, s.capture(c.Stmts).text)
		return err
	}}
	for _, v := range value {
		config.Env = expand.FuncEnviron(func(name string) string {
			if name == "x" {
				return v
			}
			known, _ := s.lookup(name)
			return strings.Join(known, " ")
		})
		result := string(Unknown)
		if len(v) <= maxOperated {
			if text, err := expand.Literal(config, &syntax.Word{Parts: []syntax.WordPart{&syntax.DblQuoted{Parts: []syntax.WordPart{&plain}}}}); err == nil {
				result = text
			}
		}
		out = append(out, result)
	}
	return out
}
