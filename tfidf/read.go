package tfidf

import (
	"cmp"
	"math"
	"slices"

	"github.com/skillrouter/skillrouter/tfidf/text"
)

const (
	// walkWords is how many words of a candidate the second pass reads.
	walkWords = 1024
	// nearWords is the distance within which words of a query gain by being near.
	nearWords = 8
	// maxGroups is how many letter groups of a query are looked for, the rarest first.
	maxGroups = 128
)

// reader reads candidates, for one query.
type reader struct {
	meanings map[uint32]*meaning // of the candidates' words
	stems    map[uint32]*stem    // and of these the stems

	groupAt map[uint16]uint8 // where each letter group of the query is among them
	weights []float64        // per letter group

	follows, precedes []int // per term of the query, the term whose word follows or precedes it, or -1
	last              []int // per term of the query, where the document at hand last had it

	// What is found in the document at hand.
	tfs    []uint32  // per term of the query
	gain   []float64 // per term, for being near the next one
	timed  bool
	title  heading
	counts []uint32 // per letter group
}

// meaning is what a word means to the query at hand.
type meaning struct {
	stem   *stem
	groups []uint8 // the letter groups of the query that it has
	time   bool    // it tells a time, and the query asks for one
}

// stem is a term of the candidates.
type stem struct {
	term   *term   // of the query; nil: it is none of its terms
	at     int     // and its place among these
	idf    float64 // 0: it does not tell documents apart
	times  uint32  // how often the document at hand has it
	weight float32 // what it weighs in the document that others are compared with
}

// meet returns what a word means to the query.
func (s *search) meet(id uint32) *meaning {
	r := &s.rank.reader
	m := r.meanings[id]
	if m == nil {
		w := &s.ix.words[id]
		m = &meaning{stem: s.stem(w.stem), time: s.q.time && text.Times()[w.text]}
		for _, g := range w.groups {
			if n, asked := r.groupAt[g]; asked && !slices.Contains(m.groups, n) {
				m.groups = append(m.groups, n)
			}
		}
		r.meanings[id] = m
	}
	return m
}

// stem returns what is known of a term of the index.
func (s *search) stem(id uint32) *stem {
	r := &s.rank.reader
	if r.stems[id] == nil {
		r.stems[id] = &stem{}
		if df := s.ix.df(id); df > 1 { // a term of one document makes none alike
			r.stems[id].idf = math.Log((float64(len(s.ix.byID)) + 1) / (float64(df) + 0.5))
		}
	}
	return r.stems[id]
}

// prepare sets up the second pass for the query at hand.
func (s *search) prepare() {
	terms := s.q.terms
	s.rank.reader = reader{meanings: map[uint32]*meaning{}, stems: map[uint32]*stem{}, groupAt: map[uint16]uint8{}}
	r := &s.rank.reader
	s.prepareGroups()
	n := len(terms)
	r.follows, r.precedes, r.last = make([]int, n), make([]int, n), make([]int, n)
	r.tfs, r.gain = make([]uint32, n), make([]float64, n)
	var places []int
	for i := range terms {
		one := s.stem(terms[i].id)
		one.term, one.at = &terms[i], i
		r.follows[i], r.precedes[i] = -1, -1
		if terms[i].place >= 0 {
			places = append(places, i)
		}
	}
	slices.SortFunc(places, func(a, b int) int { return cmp.Compare(terms[a].place, terms[b].place) })
	for i := 1; i < len(places); i++ {
		if a, b := places[i-1], places[i]; terms[a].place+1 == terms[b].place {
			r.follows[a], r.precedes[b] = b, a
		}
	}
}

// prepareGroups sets up the letter groups of the query.
func (s *search) prepareGroups() {
	r := &s.rank.reader
	var groups []uint16
	for _, word := range s.q.words {
		groups = append(groups, letterGroups(word)...)
	}
	slices.Sort(groups)
	groups = slices.Compact(groups)
	if len(groups) > maxGroups {
		slices.SortFunc(groups, func(a, b uint16) int {
			return cmp.Or(cmp.Compare(s.ix.letters[a], s.ix.letters[b]), cmp.Compare(a, b))
		})
		groups = groups[:maxGroups]
	}
	for i, g := range groups {
		r.groupAt[g] = uint8(i)
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
	r.counts = make([]uint32, len(r.weights))
	var met []*stem // in their order
	for at, id := range d.words[:min(len(d.words), walkWords)] {
		m := s.meet(id)
		times := uint32(1)
		if at < d.titled {
			times = uint32(s.ix.weights.Title)
			s.headed(m.stem)
		} else if m.time {
			r.timed = true
		}
		for _, g := range m.groups {
			r.counts[g]++
		}
		if m.stem.times == 0 {
			met = append(met, m.stem)
		}
		if m.stem.times += times; m.stem.term != nil {
			s.nearness(m.stem.at, at)
		}
	}
	of.vector, of.norm = nil, 0
	for _, one := range met {
		if one.term != nil {
			r.tfs[one.at] = one.times
		}
		if x := one.idf; x > 0 {
			x *= s.sat.impact(one.times, d.length)
			of.vector = append(of.vector, weighted{one, float32(x)})
			of.norm += x * x
		}
		one.times = 0
	}
	of.norm = math.Sqrt(of.norm)
	if len(d.words) > walkWords {
		s.lookUpTFs(d)
	}
}

// headed notes that the title at hand has a stem.
func (s *search) headed(of *stem) {
	weight := of.idf
	if weight == 0 { // no other document has it
		weight = math.Log(float64(len(s.ix.byID) + 1))
	}
	s.rank.title.meet(weight, of.term, of.times == 0)
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
