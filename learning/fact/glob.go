package fact

import (
	"strings"
	"unicode/utf8"

	"skillrouter/internal/check"
	"skillrouter/internal/errs"
)

// globWords is how many words hold a set of states: one for each character of
// the longest pattern, and the last.
const globWords = MaxPattern/64 + 1

// states is a set of numbers of pattern elements that were matched.
type states [globWords]uint64

func (s *states) add(i int) { s[i/64] |= 1 << (i % 64) }

func (s *states) has(i int) bool { return s[i/64]&(1<<(i%64)) != 0 }

// glob is a compiled pattern. It is matched by keeping the set of all states
// that the pattern can be in, one step a character, so that no pattern and no
// text take more than their lengths' product over 64 (Baeza-Yates and Gonnet,
// "A new approach to text searching", 1992).
type glob struct {
	elements []globElement
	loops    states // states in which any character may be passed over: where a * stands
	ascii    [utf8.RuneSelf]states
	other    map[rune]states
	prefix   string // what every match begins with
}

// globElement matches one character.
type globElement struct {
	any     bool
	negated bool
	ranges  []globRange
}

type globRange struct{ lo, hi rune }

func (e globElement) matches(r rune) bool {
	if e.any {
		return true
	}
	for _, span := range e.ranges {
		if span.lo <= r && r <= span.hi {
			return !e.negated
		}
	}
	return e.negated
}

// compileGlob compiles a pattern of Query.
func compileGlob(pattern string) (*glob, error) {
	if err := check.Text("pattern", pattern, MaxPattern); err != nil {
		return nil, err
	}
	g := &glob{other: map[rune]states{}}
	literal := true // nothing but plain characters so far
	rest := []rune(pattern)
	for len(rest) > 0 {
		r := rest[0]
		rest = rest[1:]
		switch r {
		case '*':
			g.loops.add(len(g.elements))
			literal = false
			continue
		case '?':
			g.elements = append(g.elements, globElement{any: true})
			literal = false
			continue
		case '[':
			element, after, err := globClass(rest)
			if err != nil {
				return nil, err
			}
			g.elements, rest = append(g.elements, element), after
			literal = false
			continue
		case '\\':
			if len(rest) == 0 {
				return nil, errs.InvalidField("pattern", "ends with a \\ that nothing follows")
			}
			r, rest = rest[0], rest[1:]
		}
		g.elements = append(g.elements, globElement{ranges: []globRange{{r, r}}})
		if literal {
			g.prefix += string(r)
		}
	}
	for r := range g.ascii {
		g.ascii[r] = g.mask(rune(r))
	}
	return g, nil
}

// globClass reads a class after its bracket.
func globClass(rest []rune) (e globElement, after []rune, err error) {
	if len(rest) > 0 && (rest[0] == '!' || rest[0] == '^') {
		e.negated, rest = true, rest[1:]
	}
	for first := true; ; first = false {
		if len(rest) == 0 {
			return e, nil, errs.InvalidField("pattern", "has a [ without its ]")
		}
		if rest[0] == ']' && !first {
			return e, rest[1:], nil
		}
		var span globRange
		if span.lo, rest, err = globMember(rest); err != nil {
			return e, nil, err
		}
		span.hi = span.lo
		if len(rest) > 1 && rest[0] == '-' && rest[1] != ']' {
			if span.hi, rest, err = globMember(rest[1:]); err != nil {
				return e, nil, err
			}
			if span.hi < span.lo {
				return e, nil, errs.InvalidField("pattern", "has a range that ends before it begins")
			}
		}
		e.ranges = append(e.ranges, span)
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

// mask is the set of elements that match r.
func (g *glob) mask(r rune) (set states) {
	for i, e := range g.elements {
		if e.matches(r) {
			set.add(i)
		}
	}
	return set
}

// match tells whether the whole text fits. It is for one goroutine at a time.
func (g *glob) match(text string) bool {
	if !strings.HasPrefix(text, g.prefix) {
		return false
	}
	var now states
	now.add(0)
	for _, r := range text {
		var mask *states
		if r < utf8.RuneSelf {
			mask = &g.ascii[r]
		} else {
			seen, ok := g.other[r]
			if !ok {
				seen = g.mask(r)
				g.other[r] = seen
			}
			mask = &seen
		}
		carry, alive := uint64(0), uint64(0)
		for w := range now {
			stepped := now[w] & mask[w]
			stayed := now[w] & g.loops[w]
			now[w] = stepped<<1 | carry | stayed
			carry = stepped >> 63
			alive |= now[w]
		}
		if alive == 0 {
			return false
		}
	}
	return now.has(len(g.elements))
}
