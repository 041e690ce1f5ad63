package act

import (
	"strconv"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// maxSequence bounds how far apart the ends of one {1..9} lie; what is longer is any text.
const maxSequence = 64

// braces expands {a,b} and {1..3}; few: there are not too many.
func braces(w *syntax.Word) (words []*syntax.Word, few bool) {
	split := &syntax.Word{Parts: w.Parts}
	if !syntax.SplitBraces(split) {
		return []*syntax.Word{w}, true
	}
	if braceCount(split) > maxBrace {
		return []*syntax.Word{w}, false
	}
	for one, err := range expand.BracesSeq(nil, split) {
		if err != nil {
			return []*syntax.Word{w}, false
		}
		words = append(words, one)
	}
	return words, true
}

// braceCount says how many words the braces make at most; over the bound it says just that. A long sequence becomes any text.
func braceCount(w *syntax.Word) int {
	n := 1
	for i, p := range w.Parts {
		b, ok := p.(*syntax.BraceExp)
		m := 0
		switch {
		case !ok:
		case b.Sequence:
			if m = int(min(apartBy(b.Elems[0].Lit(), b.Elems[1].Lit()), maxSequence+1)) + 1; m > maxSequence+1 {
				m, w.Parts[i] = 1, &syntax.Lit{Value: string(AnyText)}
			}
		default:
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

// apartBy is how far two numbers or letters lie apart.
func apartBy(from, to string) uint64 {
	first, err1 := strconv.ParseInt(from, 10, 64)
	last, err2 := strconv.ParseInt(to, 10, 64)
	if err1 != nil || err2 != nil {
		first, last = int64(from[0]), int64(to[0])
	}
	return uint64(max(first, last)) - uint64(min(first, last))
}
