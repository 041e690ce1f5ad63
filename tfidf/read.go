package tfidf

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

const (
	// walkWords is how many words of a candidate the second pass reads.
	walkWords = 1024
	// nearWords is the distance within which words of a query gain by being near.
	nearWords = 8
	// maxGroups is how many letter groups of a query are looked for, the rarest first.
	maxGroups = 128
	// maxLocal bounds how many distinct terms of the candidates are told apart for
	// comparing them; what comes after, in the worst of them, is left out.
	maxLocal = 1 << 13

	slotBits = 12
)

// slot remembers what a word of the vocabulary means to the query at hand.
type slot struct {
	id, round uint32
	local     uint32                 // see reader.local; the first ones are the query's terms
	time      bool                   // it tells a time, and the query asks for one
	groups    [maxGroups / 64]uint64 // which letter groups of the query it has
}

// local numbers the terms of the candidates of one query.
type local struct{ term, round, number uint32 }

// reader reads candidates, for one query at a time.
type reader struct {
	round   uint32
	slots   [1 << slotBits]slot
	locals  [2 * maxLocal]local // by term, open addressing
	next    uint32              // the number that the next term gets
	idfs    []float64           // per number; 0 for a term that does not tell documents apart
	groupAt [1 << letterBits]uint8
	groups  []uint16
	weights []float64 // per letter group
	logs    logTable

	follows, precedes []int // per term of the query, the term whose word follows or precedes it, or -1
	places            []int
	last              []int // per term of the query, where the document at hand last had it

	// What is found in the document at hand.
	tfs    []uint32  // per term of the query
	gain   []float64 // per term, for being near the next one
	timed  bool
	counts [maxGroups]uint32
	ids    []uint32 // its words
	seen   []uint32 // the numbers of its terms
	freqs  []uint32 // per number, how often it has the term

	touched uint8 // keeps decode's reads from being left out
}

// prepare sets up the second pass for the query at hand.
func (s *search) prepare() {
	r, terms := &s.rank.reader, s.q.terms
	if r.round++; r.round == 0 {
		clear(r.slots[:])
		clear(r.locals[:])
		r.round = 1
	}
	s.rank.vectors.reset()
	r.next, r.idfs = 0, r.idfs[:0]
	r.freqs = grown(r.freqs, maxLocal)
	docs := math.Log(float64(s.view.docs + 1))
	for i := range terms {
		s.number(terms[i].id, docs)
	}
	s.prepareGroups()

	n := len(terms)
	r.follows, r.precedes, r.last = grown(r.follows, n), grown(r.precedes, n), grown(r.last, n)
	r.tfs, r.gain = grown(r.tfs, n), grown(r.gain, n)
	r.places = r.places[:0]
	for i := range terms {
		r.follows[i], r.precedes[i] = -1, -1
		if terms[i].place >= 0 {
			r.places = append(r.places, i)
		}
	}
	slices.SortFunc(r.places, func(a, b int) int { return cmp.Compare(terms[a].place, terms[b].place) })
	for i := 1; i < len(r.places); i++ {
		if a, b := r.places[i-1], r.places[i]; terms[a].place+1 == terms[b].place {
			r.follows[a], r.precedes[b] = b, a
		}
	}
}

// prepareGroups sets up the letter groups of the query.
func (s *search) prepareGroups() {
	r := &s.rank.reader
	for _, g := range r.groups {
		r.groupAt[g] = 0
	}
	r.groups, r.weights = r.groups[:0], r.weights[:0]
	for _, word := range s.q.words {
		r.groups = letterGroups(word, r.groups)
	}
	slices.Sort(r.groups)
	r.groups = slices.Compact(r.groups)
	if len(r.groups) > maxGroups {
		slices.SortFunc(r.groups, func(a, b uint16) int {
			return cmp.Or(cmp.Compare(s.ix.letters[a].Load(), s.ix.letters[b].Load()), cmp.Compare(a, b))
		})
		r.groups = r.groups[:maxGroups]
	}
	for i, g := range r.groups {
		r.groupAt[g] = uint8(i + 1)
		r.weights = append(r.weights, idf(s.view.docs, int(s.ix.letters[g].Load())))
	}
}

// read walks over the words of a candidate. It leaves what it found in the
// reader, and the candidate's vector in s.rank.vectors.
func (s *search) read(c candidate) {
	r, terms := &s.rank.reader, s.q.terms
	for i := range terms {
		r.tfs[i], r.gain[i], r.last[i] = 0, 0, -2*nearWords
	}
	r.timed = false
	clear(r.counts[:len(r.groups)])
	r.seen = r.seen[:0]
	docs := math.Log(float64(s.view.docs + 1))
	_, in := readWords(s.view.words(c), nil)
	title := uint32(s.ix.weights.Title)
	walk := min(in.left, walkWords)
	s.decode(in.b, walk)
	for at, id := range r.ids {
		sl := &r.slots[id%(1<<slotBits)]
		if sl.id != id || sl.round != r.round {
			s.meet(sl, id, docs)
		}
		times := uint32(1)
		if at < in.titled {
			times = title
		} else if sl.time {
			r.timed = true
		}
		for j, g := range sl.groups {
			for ; g != 0; g &= g - 1 {
				r.counts[j*64+bits.TrailingZeros64(g)]++
			}
		}
		l := sl.local
		if l >= maxLocal {
			continue
		}
		if r.freqs[l] == 0 {
			r.seen = append(r.seen, l)
		}
		r.freqs[l] += times
		if int(l) < len(terms) {
			s.nearness(int(l), at)
		}
	}
	for i := range terms {
		r.tfs[i] = min(r.freqs[i], maxTF)
	}
	v, norm, length := &s.rank.vectors, 0.0, s.view.lengthOf(c)
	for _, l := range r.seen {
		if x := r.idfs[l]; x > 0 {
			x *= s.sat.impact(r.freqs[l], length)
			v.add(l, x)
			norm += x * x
		}
		r.freqs[l] = 0
	}
	v.end(norm)
	if walk < in.left {
		s.lookUpTFs(c)
	}
}

// decode reads the numbers of n words into r.ids. It touches the entries of
// those that are not met yet all at once, so that the waits for memory overlap.
func (s *search) decode(b []byte, n int) {
	r, touched := &s.rank.reader, uint8(0)
	r.ids = grown(r.ids, n)
	for i := range r.ids {
		id, w := uint32(b[0]), 1
		if id >= 0x80 {
			id, w = uvarint(b)
		}
		b = b[w:]
		r.ids[i] = id
		if sl := &r.slots[id%(1<<slotBits)]; sl.id != id || sl.round != r.round {
			touched += s.ix.vocab.entry(id).size
		}
	}
	r.touched = touched
}

// nearness notes that the document at hand has term t at a place.
func (s *search) nearness(t, at int) {
	r, terms := &s.rank.reader, s.q.terms
	if f := r.follows[t]; f >= 0 { // the word that follows in the query came earlier here
		if d := at - r.last[f]; d > 0 && d <= nearWords {
			r.gain[t] = max(r.gain[t], min(terms[t].factor, terms[f].factor)/float64(d+1))
		}
	}
	if p := r.precedes[t]; p >= 0 {
		if d := at - r.last[p]; d > 0 && d <= nearWords {
			r.gain[p] = max(r.gain[p], min(terms[t].factor, terms[p].factor)/float64(d))
		}
	}
	r.last[t] = at
}

// meet fills a slot with what word id means to the query.
func (s *search) meet(sl *slot, id uint32, docs float64) {
	r := &s.rank.reader
	word := s.ix.vocab.text(id)
	*sl = slot{id: id, round: r.round, local: s.number(s.ix.vocab.term(id), docs), time: s.q.time && timeWords[string(word)]}
	x := uint32('^')
	for i := range len(word) {
		x = x<<8 | uint32(word[i])
		if i >= 2 {
			if g := r.groupAt[hashLetters(x)]; g != 0 {
				sl.groups[(g-1)/64] |= 1 << ((g - 1) % 64)
			}
		}
	}
	if g := r.groupAt[hashLetters(x<<8|'$')]; g != 0 {
		sl.groups[(g-1)/64] |= 1 << ((g - 1) % 64)
	}
}

// number returns the number of a term for this query, giving it one if it is
// new, or maxLocal if there are too many. docs is ln(N+1).
func (s *search) number(term uint32, docs float64) uint32 {
	r := &s.rank.reader
	for h := term * 0x9e3779b1 >> 18; ; h++ {
		e := &r.locals[h%uint32(len(r.locals))]
		if e.round == r.round {
			if e.term == term {
				return e.number
			}
			continue
		}
		if r.next == maxLocal {
			return maxLocal
		}
		*e = local{term, r.round, r.next}
		r.next++
		// ln(1+(N−df+½)/(df+½)) is ln(N+1) − ln(df+½). A term of one document makes none alike.
		weight := 0.0
		if df := s.ix.vocab.entry(term).df.Load(); df > 1 {
			weight = max(docs-r.logs.of(df), 0)
		}
		r.idfs = append(r.idfs, weight)
		return e.number
	}
}

// logTable holds ln(n+½) for small n.
type logTable []float64

func (t *logTable) of(n uint32) float64 {
	const small = 1 << 10
	if n >= small {
		return math.Log(float64(n) + 0.5)
	}
	if *t == nil {
		*t = make([]float64, small)
		for i := range *t {
			(*t)[i] = math.Log(float64(i) + 0.5)
		}
	}
	return (*t)[n]
}

// lookUpTFs asks the index for the frequencies in a document too long to be walked over.
func (s *search) lookUpTFs(c candidate) {
	r := &s.rank.reader
	s.cursors = grown(s.cursors, 1)
	cur := &s.cursors[0]
	for i, t := range s.q.terms {
		r.tfs[i] = 0
		switch {
		case c.seg == nil:
			r.tfs[i] = s.view.tail[c.at].tf(t.id)
		case cur.reset(c.seg, t.id) && cur.seek(c.at) == c.at:
			r.tfs[i] = cur.tf(cur.pos)
		}
	}
}

// letterScore weighs the letter groups of the document at hand by BM25.
func (s *search) letterScore(length uint32) float64 {
	r, w := &s.rank.reader, &s.ix.weights
	k := w.LettersK * (1 - w.LettersB + w.LettersB*float64(length)/max(s.view.average(), 1))
	sum := 0.0
	for i, x := range r.weights {
		if n := float64(r.counts[i]); n > 0 {
			sum += x * n / (n + k)
		}
	}
	return sum
}
