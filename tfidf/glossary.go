package tfidf

import (
	"math"
	"slices"

	"skillrouter/tfidf/text"
)

// glossary says what each distinct word of the candidates means to the query.
type glossary struct {
	words    numbering // of the candidates' words
	meanings []meaning // per word
	terms    numbering // of their stems; the first ones are the query's terms
	idfs     []float64 // per term; 0 for one that does not tell documents apart

	groupLists []uint8 // of all words, one after the other
}

// meaning is what a word means to the query at hand.
type meaning struct {
	term              uint32 // the number of its stem
	groups, groupsEnd uint32 // where in glossary.groupLists are the letter groups of the query that it has
	time              bool   // it tells a time, and the query asks for one
}

// numbering gives small numbers to numbers of the vocabulary, from 0.
type numbering struct {
	keys []uint32 // by small number
	at   []uint32 // by number of the vocabulary, one more than its small number; 0: it has none
}

// reset empties the numbering, of which size is how many numbers the vocabulary has.
func (t *numbering) reset(size int) {
	for _, key := range t.keys {
		t.at[key] = 0
	}
	t.keys = t.keys[:0]
	if size > len(t.at) {
		t.at = make([]uint32, size+size/4)
	}
}

// number returns the small number of a key, and whether that is new.
func (t *numbering) number(key uint32) (number uint32, fresh bool) {
	if n := t.at[key]; n != 0 {
		return n - 1, false
	}
	t.keys = append(t.keys, key)
	t.at[key] = uint32(len(t.keys))
	return uint32(len(t.keys) - 1), true
}

// meet returns what a word means to the query.
func (s *search) meet(id uint32) *meaning {
	r := &s.rank.reader
	n, fresh := r.words.number(id)
	if fresh {
		w, from := &s.ix.words[id], len(r.groupLists)
		r.listGroups(w.groups)
		r.meanings = append(r.meanings, meaning{
			term: s.termNumber(w.stem), groups: uint32(from), groupsEnd: uint32(len(r.groupLists)),
			time: s.q.time && text.Times()[w.text],
		})
	}
	return &r.meanings[n]
}

// termNumber returns the small number of a term.
func (s *search) termNumber(id uint32) uint32 {
	r := &s.rank.reader
	n, fresh := r.terms.number(id)
	if fresh {
		x := 0.0
		if df := s.ix.df(id); df > 1 { // a term of one document makes none alike
			x = math.Log((float64(len(s.ix.byID)) + 1) / (float64(df) + 0.5)) // idf
		}
		r.idfs = append(r.idfs, x)
	}
	return n
}

// listGroups appends to groupLists which of a word's letter groups the query has.
func (r *reader) listGroups(groups []uint16) {
	from := len(r.groupLists)
	for _, g := range groups {
		if n := r.groupAt[g]; n != 0 && !slices.Contains(r.groupLists[from:], n-1) {
			r.groupLists = append(r.groupLists, n-1)
		}
	}
}
