package tfidf

import (
	"slices"
	"strings"

	"github.com/skillrouter/skillrouter/tfidf/text"
)

// beginWords bounds the words of a query that beginnings are looked for of: of a longer one, the ranking finds them.
const beginWords = 32

// beginning is what search.begins looks for and has found.
type beginning struct {
	words []uint32 // of the query, all of them, in their order
	found []*doc
}

// begins finds the documents whose title or text begins with exactly the query's words, and has them among the
// candidates. The first pass weighs words and knows no order: of common words it finds others first.
func (s *search) begins(asked string, limit int) {
	b, ix := &s.begin, s.ix
	var in text.Scanner
	words := in.Words(nil, text.Cut(asked, text.MaxQueryBytes))
	if len(words) == 0 || len(words) > beginWords {
		return
	}
	var rarest []posting
	for i, word := range words {
		id := ix.numbers[word]
		if id == 0 { // no document has it
			return
		}
		if list := ix.words[ix.words[id].stem].postings; i == 0 || len(list) < len(rarest) {
			rarest = list
		}
		b.words = append(b.words, id)
	}
	for _, p := range rarest {
		if d := ix.docs[p.doc]; b.of(d) > elsewhere && s.fits(d) {
			b.found = append(b.found, d)
		}
	}
	slices.SortFunc(b.found, func(a, b *doc) int { return strings.Compare(a.id, b.id) })
	b.found = b.found[:min(len(b.found), limit)]
	among := len(s.found)
	for _, d := range b.found {
		if !slices.ContainsFunc(s.found[:among], func(c candidate) bool { return c.doc == d }) {
			s.found = append(s.found, candidate{doc: d})
		}
	}
}

// Where a document has the query's words.
const (
	elsewhere     = iota
	inFront       // its title or its text begins with them
	completeTitle // they are its title
)

// of tells where a document has the query's words.
func (b *beginning) of(d *doc) int {
	title, body := d.words[:d.titled], d.words[d.titled:]
	switch {
	case len(b.words) == 0:
		return elsewhere
	case slices.Equal(title, b.words):
		return completeTitle
	case begins(title, b.words), begins(body, b.words):
		return inFront
	}
	return elsewhere
}

// begins tells whether words begin with others.
func begins(words, with []uint32) bool {
	return len(words) >= len(with) && slices.Equal(words[:len(with)], with)
}

// leadBegun has the documents that begin so among the first of the ranked, in the place of the last of these that do not.
func (s *search) leadBegun(first int) {
	ranked := s.rank.ranked
	if len(s.begin.found) == 0 || first >= len(ranked) {
		return
	}
	begun := func(k int) bool { return slices.Contains(s.begin.found, ranked[k].doc) }
	at := first - 1
	for i := first; i < len(ranked); i++ {
		if !begun(i) {
			continue
		}
		for at >= 0 && begun(at) {
			at--
		}
		if at < 0 {
			return
		}
		in, out := ranked[i], ranked[at]
		copy(ranked[at:first-1], ranked[at+1:first])
		copy(ranked[first+1:i+1], ranked[first:i])
		ranked[first-1], ranked[first] = in, out
		at--
	}
}
