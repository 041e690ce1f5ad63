package act

import (
	"strconv"
	"strings"
	"unicode/utf8"

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
	if p.Index != nil {
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
	}
	if p.Excl {
		if len(value) != 1 || p.Names != 0 {
			return unknown, false
		}
		name = value[0]
		value, set = s.lookup(name)
	}
	if p.Exp != nil && p.Exp.Op != 0 {
		return s.operate(name, value, set, p.Exp, array)
	}
	if !set {
		if p.Repl != nil || p.Slice != nil || p.Length {
			return unknown, false
		}
		if array {
			return nil, true
		}
		return []string{"${" + name + "}"}, false
	}
	switch {
	case p.Length:
		return []string{strconv.Itoa(utf8.RuneCountInString(strings.Join(value, " ")))}, false
	case p.Slice != nil:
		return s.slice(value, p.Slice), false
	case p.Repl != nil:
		return s.replace(value, p.Repl), array
	}
	if !array && len(value) > 1 {
		value = value[:1]
	}
	return value, array
}

// operate applies ${x:-y} and its kin.
func (s *Shell) operate(name string, value []string, set bool, e *syntax.Expansion, array bool) ([]string, bool) {
	null := !set || len(value) == 0 || len(value) == 1 && value[0] == ""
	switch e.Op {
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
		if null {
			v := s.text(e.Word)
			if e.Op == syntax.AssignUnset || e.Op == syntax.AssignUnsetOrNull {
				s.set(name, shellValue{v})
			}
			return []string{v}, false
		}
		return value, array
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
		// What the variable holds outside is not known: the alternative is what could happen.
		return []string{s.text(e.Word)}, false
	case syntax.RemSmallPrefix, syntax.RemLargePrefix, syntax.RemSmallSuffix, syntax.RemLargeSuffix:
		pattern := activate(s.text(e.Word))
		out := make([]string, len(value))
		for i, v := range value {
			out[i] = trim(v, pattern, e.Op)
		}
		if !set {
			return []string{string(Unknown)}, false
		}
		return out, array
	}
	if !set {
		return []string{"${" + name + "}"}, false
	}
	switch e.Op.String() {
	case "^", "^^":
		return []string{strings.ToUpper(strings.Join(value, " "))}, false
	case ",", ",,":
		return []string{strings.ToLower(strings.Join(value, " "))}, false
	}
	return value, array
}

// trim removes the shortest or longest beginning or end that fits.
func trim(v, pattern string, op syntax.ParExpOperator) string {
	if len(v) > 512 || len(pattern) > 128 {
		return string(Unknown)
	}
	n := len(v)
	for k := 0; k <= n; k++ {
		switch op {
		case syntax.RemSmallPrefix:
			if NameFits(pattern, v[:k]) {
				return v[k:]
			}
		case syntax.RemLargePrefix:
			if NameFits(pattern, v[:n-k]) {
				return v[n-k:]
			}
		case syntax.RemSmallSuffix:
			if NameFits(pattern, v[n-k:]) {
				return v[:n-k]
			}
		case syntax.RemLargeSuffix:
			if NameFits(pattern, v[k:]) {
				return v[:k]
			}
		}
	}
	return v
}

func (s *Shell) slice(value []string, sl *syntax.Slice) []string {
	number := func(x syntax.ArithmExpr, otherwise int) (int, bool) {
		if x == nil {
			return otherwise, true
		}
		n, err := strconv.Atoi(strings.TrimSpace(s.arithmetic(x)))
		return n, err == nil
	}
	v := strings.Join(value, " ")
	from, ok1 := number(sl.Offset, 0)
	length, ok2 := number(sl.Length, len(v))
	if !ok1 || !ok2 || from < 0 || length < 0 || from > len(v) {
		return []string{string(Unknown)}
	}
	return []string{v[from:min(len(v), from+length)]}
}

func (s *Shell) replace(value []string, r *syntax.Replace) []string {
	from, to := s.text(r.Orig), s.text(r.With)
	if from == "" || Patterned(activate(from)) || len(to) > 256 {
		return []string{string(Unknown)}
	}
	n := 1
	if r.All {
		n = maxFields
	}
	out := make([]string, len(value))
	for i, v := range value {
		out[i] = strings.Replace(v, from, to, n)
		if len(out[i]) > maxCarried {
			out[i] = string(Unknown)
		}
	}
	return out
}
