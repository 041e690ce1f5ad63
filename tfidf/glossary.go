package tfidf

import (
	"math"
	"math/bits"
	"sync"

	"skillrouter/tfidf/text"
)

// maxLocal bounds how many distinct terms of the candidates are told apart for
// comparing them; what comes after, in the worst of them, is left out.
const maxLocal = 1 << 14

// glossary says what each distinct word of the candidates means to the query.
// Words, and the terms that are their stems, get small numbers for the time of
// one query, so that all that is kept of them lies close together.
type glossary struct {
	words numbering // of words and terms, which are words too; the first ones are the query's terms
	met   []meaning // per word
	stems []uint32  // per word, its term's number in the vocabulary
	idfs  []float64 // per word, as a term; 0 for one that does not tell documents apart

	groupSets [][maxGroups / 64]uint64 // which letter groups of the query a word has
}

// meaning is what a word means to the query at hand.
type meaning struct {
	local  uint16 // the number of its term, or maxLocal if there are too many
	groups uint16 // 1 more than where glossary.groupSets has its letter groups, or 0
	time   bool   // it tells a time, and the query asks for one
}

// numbering gives small numbers to numbers of the vocabulary, from 0. It is an
// open hash table; a slot holds a key and one more than its number.
type numbering struct {
	keys  []uint32 // by number
	slots []uint64
	shift int
}

// reset empties the numbering and makes room for n keys.
func (t *numbering) reset(n int) {
	width := max(bits.Len(uint(2*n)), 6)
	t.keys, t.shift = t.keys[:0], 32-width
	t.slots = grown(t.slots, 1<<width)
	clear(t.slots)
}

// number returns the number of a key.
func (t *numbering) number(key uint32) uint32 {
	for h := key * 0x9e3779b1 >> t.shift; ; h++ {
		slot := &t.slots[h%uint32(len(t.slots))]
		if *slot == 0 {
			t.keys = append(t.keys, key)
			*slot = uint64(key)<<32 | uint64(len(t.keys))
			return uint32(len(t.keys) - 1)
		}
		if uint32(*slot>>32) == key {
			return uint32(*slot) - 1
		}
	}
}

// meetAll replaces the words in r.ids by their numbers and finds out what each
// of them means to the query. It asks the vocabulary for one thing of all words
// at a time, so that the waits for memory overlap.
func (s *search) meetAll() {
	r, vocab := &s.rank.reader, s.ix.vocab
	// Twice as many keys fit: no more than these and their terms come.
	r.words.reset(len(r.ids) + len(s.q.terms))
	for i := range s.q.terms {
		r.words.number(s.q.terms[i].id)
	}
	for i, id := range r.ids {
		r.ids[i] = r.words.number(id)
	}
	n := len(r.words.keys)
	r.stems = grown(r.stems, n)
	for i, id := range r.words.keys {
		r.stems[i] = vocab.entry(id).stem.Load()
	}
	r.met, r.groupSets = grown(r.met, n), r.groupSets[:0]
	for i, id := range r.words.keys[:n] {
		word, term, local := vocab.text(id), r.stems[i], uint32(i)
		if term == 0 {
			term = vocab.term(id)
		}
		if term != id {
			local = r.words.number(term)
		}
		r.met[i] = meaning{
			local:  uint16(min(local, maxLocal)),
			groups: r.groupsOf(word),
			time:   s.q.time && text.Times()[string(word)],
		}
	}
	docs, logs := math.Log(float64(s.view.docs+1)), mantissaLogs()
	r.idfs = grown(r.idfs, len(r.words.keys))
	for i, id := range r.words.keys {
		// ln(1+(N−df+½)/(df+½)) is ln(N+1) − ln(df+½). A term of one document makes none alike.
		r.idfs[i] = 0
		if df := vocab.entry(id).df.Load(); df > 1 {
			r.idfs[i] = max(docs-logs.of(float64(df)+0.5), 0)
		}
	}
}

// groupsOf notes which letter groups of the query a word has, and returns
// meaning.groups.
func (r *reader) groupsOf(word []byte) uint16 {
	var set [maxGroups / 64]uint64
	x := uint32('^')
	for i := 0; i <= len(word); i++ {
		c := uint32('$')
		if i < len(word) {
			c = uint32(word[i])
		}
		x = x<<8 | c
		if i < 2 && i < len(word) {
			continue
		}
		h := hashLetters(x)
		if r.groupHints[h>>10]>>(h>>4&63)&1 == 0 {
			continue
		}
		if g := r.groupAt[h]; g != 0 {
			set[(g-1)/64] |= 1 << ((g - 1) % 64)
		}
	}
	if set == [maxGroups / 64]uint64{} || len(r.groupSets) == math.MaxUint16 {
		return 0
	}
	r.groupSets = append(r.groupSets, set)
	return uint16(len(r.groupSets))
}

const (
	logBits = 11
	// mantissaBits is how many bits of a float64 follow its exponent.
	mantissaBits = 52
)

// logTable holds the logarithms of 1 ≤ x < 2.
type logTable [1 << logBits]float64

var mantissaLogs = sync.OnceValue(func() *logTable {
	t := new(logTable)
	for i := range t {
		t[i] = math.Log1p((float64(i) + 0.5) / (1 << logBits))
	}
	return t
})

// of returns ln x for x ≥ 1 to within 0.0003, in a tenth of the time of math.Log.
func (t *logTable) of(x float64) float64 {
	b := math.Float64bits(x)
	exponent := int(b>>mantissaBits) - 1023
	return float64(exponent)*math.Ln2 + t[b>>(mantissaBits-logBits)%(1<<logBits)]
}
