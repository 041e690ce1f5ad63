package tfidf

import (
	"cmp"
	"math"
	"slices"
)

const (
	// walkWords is how many words of a candidate the second pass reads.
	walkWords = 1024
	// nearWords is the distance within which words of a query gain by being near.
	nearWords = 8
	// maxGroups is how many letter groups of a query are looked for, the rarest first.
	maxGroups = 128
)

// reader reads candidates, for one query at a time.
type reader struct {
	glossary

	groupAt [letterCount]uint8 // one more than a group's place among the query's; 0: it is none of them
	groups  []uint16
	weights []float64 // per letter group

	follows, precedes []int // per term of the query, the term whose word follows or precedes it, or -1
	places            []int
	last              []int // per term of the query, where the document at hand last had it

	// What is found in the document at hand.
	tfs    []uint32  // per term of the query
	gain   []float64 // per term, for being near the next one
	timed  bool
	title  heading
	counts [maxGroups]uint32
	seen   []uint32 // the numbers of its terms
	freqs  []uint32 // per number, how often it has the term
}

// prepare sets up the second pass for the query at hand.
func (s *search) prepare() {
	r, terms := &s.rank.reader, s.q.terms
	s.prepareGroups()
	r.words.reset(len(s.ix.words))
	r.terms.reset(len(s.ix.words))
	r.meanings, r.groupLists, r.idfs, r.freqs = r.meanings[:0], r.groupLists[:0], r.idfs[:0], r.freqs[:0]
	for i := range terms {
		s.termNumber(terms[i].id)
	}

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
		r.groups = append(r.groups, letterGroups(word)...)
	}
	slices.Sort(r.groups)
	r.groups = slices.Compact(r.groups)
	if len(r.groups) > maxGroups {
		slices.SortFunc(r.groups, func(a, b uint16) int {
			return cmp.Or(cmp.Compare(s.ix.letters[a], s.ix.letters[b]), cmp.Compare(a, b))
		})
		r.groups = r.groups[:maxGroups]
	}
	for i, g := range r.groups {
		r.groupAt[g] = uint8(i + 1)
		r.weights = append(r.weights, idf(len(s.ix.byID), int(s.ix.letters[g])))
	}
}

// read walks over the words of a candidate. It leaves what it found in the
// reader, and sets the candidate's vector.
func (s *search) read(of *ranked) {
	r, terms, d := &s.rank.reader, s.q.terms, of.doc
	for i := range terms {
		r.tfs[i], r.gain[i], r.last[i] = 0, 0, -2*nearWords
	}
	r.timed, r.title = false, heading{}
	clear(r.counts[:len(r.groups)])
	r.seen = r.seen[:0]
	for at, id := range d.words[:min(len(d.words), walkWords)] {
		m := s.meet(id)
		times := uint32(1)
		if at < d.titled {
			times = uint32(s.ix.weights.Title)
		} else if m.time {
			r.timed = true
		}
		for _, g := range r.groupLists[m.groups:m.groupsEnd] {
			r.counts[g]++
		}
		for int(m.term) >= len(r.freqs) {
			r.freqs = append(r.freqs, 0)
		}
		if at < d.titled {
			s.headed(m.term)
		}
		if r.freqs[m.term] == 0 {
			r.seen = append(r.seen, m.term)
		}
		r.freqs[m.term] += times
		if int(m.term) < len(terms) {
			s.nearness(int(m.term), at)
		}
	}
	for i := range min(len(terms), len(r.freqs)) {
		r.tfs[i] = r.freqs[i]
	}
	of.vector, of.norm = of.vector[:0], 0
	for _, l := range r.seen {
		if x := r.idfs[l]; x > 0 {
			x *= s.sat.impact(r.freqs[l], d.length)
			of.vector = append(of.vector, weighted{l, float32(x)})
			of.norm += x * x
		}
		r.freqs[l] = 0
	}
	of.norm = math.Sqrt(of.norm)
	if len(d.words) > walkWords {
		s.lookUpTFs(d)
	}
}

// headed notes that the title at hand has the term with a number.
func (s *search) headed(number uint32) {
	r := &s.rank.reader
	weight := r.idfs[number]
	if weight == 0 { // no other document has it
		weight = math.Log(float64(len(s.ix.byID) + 1))
	}
	var t *term
	if int(number) < len(s.q.terms) {
		t = &s.q.terms[number]
	}
	r.title.meet(weight, t, r.freqs[number] == 0)
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

// lookUpTFs asks the index for the frequencies in a document too long to be walked over.
func (s *search) lookUpTFs(d *doc) {
	r := &s.rank.reader
	for i, t := range s.q.terms {
		r.tfs[i] = 0
		list := s.ix.words[t.id].postings
		if at, there := find(list, d.number); there {
			r.tfs[i] = list[at].tf
		}
	}
}

// letterScore weighs the letter groups of the document at hand by BM25.
func (s *search) letterScore(length uint32) float64 {
	r, w := &s.rank.reader, &s.ix.weights
	k := w.LettersK * (1 - w.LettersB + w.LettersB*float64(length)/max(s.ix.average(), 1))
	sum := 0.0
	for i, x := range r.weights {
		n := float64(r.counts[i])
		sum += x * n / (n + k)
	}
	return sum
}
