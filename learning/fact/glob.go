package fact

import (
	"fmt"
	"regexp"
	"strings"

	"skillrouter/internal/check"
	"skillrouter/internal/errs"
)

// glob is a compiled pattern: a regular expression, so that no pattern takes more time than its length times the text's.
type glob struct {
	*regexp.Regexp
	prefix string // what every match begins with
}

// compileGlob compiles a pattern of Query.
func compileGlob(pattern string) (*glob, error) {
	if err := check.Text("pattern", pattern, MaxPattern); err != nil {
		return nil, err
	}
	g, literal := &glob{}, true // nothing but plain characters so far
	var b strings.Builder
	b.WriteString(`(?s)\A`)
	for rest := []rune(pattern); len(rest) > 0; {
		r := rest[0]
		rest = rest[1:]
		literal = literal && r != '*' && r != '?' && r != '['
		switch r {
		case '*':
			b.WriteString(`.*`)
			continue
		case '?':
			b.WriteByte('.')
			continue
		case '[':
			class, after, err := globClass(rest)
			if err != nil {
				return nil, err
			}
			b.WriteString(class)
			rest = after
			continue
		case '\\':
			if len(rest) == 0 {
				return nil, errs.InvalidField("pattern", "ends with a \\ that nothing follows")
			}
			r, rest = rest[0], rest[1:]
		}
		b.WriteString(regexp.QuoteMeta(string(r)))
		if literal {
			g.prefix += string(r)
		}
	}
	var err error
	if g.Regexp, err = regexp.Compile(b.String() + `\z`); err != nil {
		return nil, errs.InvalidField("pattern", "is no pattern: %v", err)
	}
	return g, nil
}

// globClass writes a class as a regular expression has it; rest is what follows its bracket.
func globClass(rest []rune) (class string, after []rune, err error) {
	class = "["
	if len(rest) > 0 && (rest[0] == '!' || rest[0] == '^') {
		class, rest = "[^", rest[1:]
	}
	for first := true; ; first = false {
		if len(rest) == 0 {
			return "", nil, errs.InvalidField("pattern", "has a [ without its ]")
		}
		if rest[0] == ']' && !first {
			return class + "]", rest[1:], nil
		}
		var lo, hi rune
		if lo, rest, err = globMember(rest); err != nil {
			return "", nil, err
		}
		hi = lo
		if len(rest) > 1 && rest[0] == '-' && rest[1] != ']' {
			if hi, rest, err = globMember(rest[1:]); err != nil {
				return "", nil, err
			}
			if hi < lo {
				return "", nil, errs.InvalidField("pattern", "has a range that ends before it begins")
			}
		}
		class += fmt.Sprintf(`\x{%x}-\x{%x}`, lo, hi)
	}
}

func globMember(rest []rune) (rune, []rune, error) {
	if rest[0] != '\\' {
		return rest[0], rest[1:], nil
	}
	if len(rest) < 2 {
		return 0, nil, errs.InvalidField("pattern", "ends with a \\ that nothing follows")
	}
	return rest[1], rest[2:], nil
}
