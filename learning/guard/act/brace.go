package act

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// braces expands {a,b} and {1..3}; few: there are not too many.
func braces(w *syntax.Word) (words []*syntax.Word, few bool) {
	braced := false
	for _, p := range w.Parts {
		if lit, ok := p.(*syntax.Lit); ok && strings.Contains(lit.Value, "{") {
			braced = true
		}
	}
	if !braced {
		return []*syntax.Word{w}, true
	}
	copied := &syntax.Word{Parts: append([]syntax.WordPart(nil), w.Parts...)}
	if !syntax.SplitBraces(copied) {
		return []*syntax.Word{w}, true
	}
	if n := braceCount(copied); n < 1 || n > maxBrace {
		return []*syntax.Word{w}, n <= maxBrace
	}
	return braceWords(copied), true
}

// braceCount says how many words the braces make; over the bound it says just that.
func braceCount(w *syntax.Word) int {
	n := 1
	for _, p := range w.Parts {
		b, ok := p.(*syntax.BraceExp)
		if !ok {
			continue
		}
		m := 0
		if b.Sequence {
			m = len(sequence(b))
		} else {
			for _, e := range b.Elems {
				m += braceCount(e)
			}
		}
		if n *= max(m, 1); n > maxBrace {
			return maxBrace + 1
		}
	}
	return n
}

func braceWords(w *syntax.Word) []*syntax.Word {
	for i, p := range w.Parts {
		b, ok := p.(*syntax.BraceExp)
		if !ok {
			continue
		}
		var middles [][]syntax.WordPart
		if b.Sequence {
			for _, v := range sequence(b) {
				middles = append(middles, []syntax.WordPart{&syntax.Lit{Value: v}})
			}
		} else {
			for _, e := range b.Elems {
				middles = append(middles, e.Parts)
			}
		}
		var out []*syntax.Word
		for _, m := range middles {
			parts := append(append(append([]syntax.WordPart(nil), w.Parts[:i]...), m...), w.Parts[i+1:]...)
			out = append(out, braceWords(&syntax.Word{Parts: parts})...)
		}
		return out
	}
	return []*syntax.Word{w}
}

// maxSequence bounds the values of one {1..9}; more of them are any text.
const maxSequence = 64

func sequence(b *syntax.BraceExp) (values []string) {
	from, to := b.Elems[0].Lit(), b.Elems[1].Lit()
	first, err1 := strconv.Atoi(from)
	last, err2 := strconv.Atoi(to)
	letters := err1 != nil || err2 != nil
	if letters {
		if len(from) != 1 || len(to) != 1 {
			return []string{string(AnyText)}
		}
		first, last = int(from[0]), int(to[0])
	}
	step := 1
	if last < first {
		step = -1
	}
	if max(first, last)-min(first, last) > maxSequence {
		return []string{string(AnyText)}
	}
	for v := first; ; v += step {
		if letters {
			values = append(values, string(rune(v)))
		} else {
			values = append(values, strconv.Itoa(v))
		}
		if v == last {
			break
		}
	}
	return values
}
