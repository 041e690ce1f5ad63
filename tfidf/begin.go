package tfidf

import (
	"iter"
	"slices"
	"strings"

	"skillrouter/tfidf/text"
)

const (
	// beginWords bounds the words of a query that beginnings are looked for of: of a longer one, the ranking finds them.
	beginWords = 32
	// beginLooks is how many documents are looked at that have the query's rarest word: some microseconds. If more have
	// it, the fronts of all are compared.
	beginLooks = 256
)

// beginning is what s.begins looks for and has found.
type beginning struct {
	words []uint32 // of the query, all of them, in their order
	found []candidate
}

// begins finds the documents whose title or text begins with exactly the query's words, and has them among the
// candidates. The first pass weighs words and knows no order: of common words it finds others first.
func (s *search) begins(asked string, limit int) {
	b := &s.begin
	b.words, b.found = b.words[:0], b.found[:0]
	var scan text.Scanner
	scan.Scan(text.Cut(asked, text.MaxQueryBytes))
	if len(scan.Tokens) > beginWords {
		return
	}
	rarest, least := uint32(0), uint32(0)
	for _, t := range scan.Tokens {
		id := s.ix.vocab.lookup(string(scan.Buf[t.Start:t.End]))
		if id == 0 { // no document has it
			return
		}
		stem := s.ix.vocab.term(id)
		if df := s.ix.vocab.entry(stem).df.Load(); rarest == 0 || df < least {
			rarest, least = stem, df
		}
		b.words = append(b.words, id)
	}
	if rarest == 0 {
		return
	}
	for at, d := range s.view.tail {
		if b.of(d.words) > elsewhere && d.alive(s.view.seq) && s.fitsTail(d) {
			b.found = append(b.found, candidate{at: uint32(at)})
		}
	}
	two := len(b.words) > 1
	want := frontOf(b.words[0], 0)
	if two {
		want = frontOf(b.words[0], b.words[1])
	}
	for _, seg := range s.view.segs {
		if least <= beginLooks {
			for d := range seg.having(rarest) {
				s.look(seg, d)
			}
			continue
		}
		for d, f := range seg.allFronts() {
			if two && (f.title == want || f.text == want) || !two && (f.titleWord == want || f.textWord == want) {
				s.look(seg, uint32(d))
			}
		}
	}
	if len(b.found) > limit { // the same ones wherever they happen to lie
		slices.SortFunc(b.found, func(a, b candidate) int { return strings.Compare(s.view.id(a), s.view.id(b)) })
		b.found = b.found[:limit]
	}
	for _, c := range b.found {
		if !slices.ContainsFunc(s.heap, c.same) {
			s.heap = append(s.heap, c)
		}
	}
}

// look takes a document of a segment if it begins with the query's words.
func (s *search) look(seg *segment, d uint32) {
	if s.begin.of(seg.wordsOf(d)) > elsewhere && seg.alive(d, s.view.seq) && (!s.filtered || s.fits(seg, d)) {
		s.begin.found = append(s.begin.found, candidate{seg: seg, at: d})
	}
}

// having yields the documents that have a term.
func (s *segment) having(term uint32) iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		var c cursor
		for part := range parts {
			if !c.reset(s, term, part) {
				continue
			}
			for d := range c.all {
				if !yield(d) {
					return
				}
			}
		}
	}
}

// front is what a document's title and its text begin with: their first words, and their first two; 0 if there are not as many.
type front struct{ titleWord, title, textWord, text uint16 }

// frontOf is what words come to; second is 0 of a single one. Others may come to the same.
func frontOf(first, second uint32) uint16 { return uint16((first*31+second)*0x9e3779b1>>16) | 1 }

// allFronts returns the fronts of all documents. They are read once, when they are first wanted.
func (s *segment) allFronts() []front {
	if known := s.fronts.Load(); known != nil {
		return *known
	}
	fronts := make([]front, s.docs())
	for d := range fronts {
		in := readOn(s.wordsOf(uint32(d)))
		f, before := &fronts[d], uint32(0)
		for at := range min(in.left, in.titled+2) {
			id, w := uvarint(in.b)
			in.b = in.b[w:]
			switch {
			case at == in.titled:
				f.textWord = frontOf(id, 0)
			case at == in.titled+1:
				f.text = frontOf(before, id)
			case at == 0:
				f.titleWord = frontOf(id, 0)
			case at == 1:
				f.title = frontOf(before, id)
			}
			before = id
		}
	}
	s.fronts.Store(&fronts)
	return fronts
}

// same tells whether two candidates are one document.
func (c candidate) same(o candidate) bool { return c.seg == o.seg && c.at == o.at }

// Where a document has the query's words.
const (
	elsewhere     = iota
	inFront       // its title or its text begins with them
	completeTitle // they are its title
)

// of tells where a document has the query's words, by its appendWords.
func (b *beginning) of(words []byte) int {
	n, in := len(b.words), readOn(words)
	switch titled := in.titled; {
	case n == 0:
		return elsewhere
	case titled == n && in.begins(b.words):
		return completeTitle
	case titled > n && in.begins(b.words):
		return inFront
	case in.left-titled < n:
		return elsewhere
	}
	for range in.titled {
		_, w := uvarint(in.b)
		in.b = in.b[w:]
	}
	if in.begins(b.words) {
		return inFront
	}
	return elsewhere
}

// begins tells whether the words to come begin with others; there are as many.
func (r *wordReader) begins(words []uint32) bool {
	b := r.b
	for _, word := range words {
		id, w := uvarint(b)
		if id != word {
			return false
		}
		b = b[w:]
	}
	return true
}

// leadBegun has the documents that begin so among the first of r.order, in the place of the last of these that do not.
func (s *search) leadBegun(first int) {
	order, found := s.rank.order, s.begin.found
	begun := func(k int) bool { return slices.ContainsFunc(found, s.heap[k].same) }
	if len(found) == 0 || first >= len(order) {
		return
	}
	at := first - 1
	for i := first; i < len(order); i++ {
		if !begun(order[i]) {
			continue
		}
		for at >= 0 && begun(order[at]) {
			at--
		}
		if at < 0 {
			return
		}
		in, out := order[i], order[at]
		copy(order[at:first-1], order[at+1:first])
		copy(order[first+1:i+1], order[first:i])
		order[first-1], order[first] = in, out
		at--
	}
}
