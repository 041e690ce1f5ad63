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
	shorten(split)
	for one, err := range expand.BracesSeq(nil, split) {
		if err != nil || len(words) >= maxBrace {
			return []*syntax.Word{w}, false
		}
		words = append(words, one)
	}
	return words, true
}

// shorten puts any text in the place of long sequences.
func shorten(w *syntax.Word) {
	for i, p := range w.Parts {
		b, ok := p.(*syntax.BraceExp)
		switch {
		case !ok:
		case b.Sequence && apartBy(b.Elems[0].Lit(), b.Elems[1].Lit()) > maxSequence:
			w.Parts[i] = &syntax.Lit{Value: string(AnyText)}
		case !b.Sequence:
			for _, e := range b.Elems {
				shorten(e)
			}
		}
	}
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
