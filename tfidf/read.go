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
)

// reader reads candidates, for one query at a time.
type reader struct {
	glossary
	pages []page
	ids   []uint32 // the words of all pages, one page after the other, by their numbers in the glossary

	groupAt [1 << letterBits]uint8
	// groupHints has a bit for every sixteen letter groups, set if groupAt has one
	// of them: it fits the nearest cache, and nearly all groups are none of the query's.
	groupHints [1 << (letterBits - 10)]uint64
	groups     []uint16
	weights    []float64 // per letter group

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

	touched byte // keeps gather's reads from being left out
}

// page is what is read of one candidate.
type page struct {
	from, words, titled int  // its words in reader.ids, of which the first ones are its title
	cut                 bool // there are more
}

// prepare sets up the second pass for the query at hand.
func (s *search) prepare() {
	r, terms := &s.rank.reader, s.q.terms
	s.rank.vectors.reset()
	r.freqs = grown(r.freqs, maxLocal)
	s.prepareGroups()
	s.gather()
	s.meetAll()

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
		r.groupAt[g], r.groupHints[g>>10] = 0, 0
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
		r.groupHints[g>>10] |= 1 << (g >> 4 & 63)
		r.weights = append(r.weights, idf(s.view.docs, int(s.ix.letters[g].Load())))
	}
}

// gather decodes the words of all candidates into r.ids.
func (s *search) gather() {
	r, touched := &s.rank.reader, byte(0)
	r.pages, r.ids = r.pages[:0], r.ids[:0]
	for _, c := range s.heap { // all at once, so that the waits for memory overlap
		touched += s.view.words(c)[0]
	}
	r.touched = touched
	for _, c := range s.heap {
		in := readOn(s.view.words(c))
		p := page{from: len(r.ids), words: min(in.left, walkWords), titled: in.titled}
		p.cut = p.words < in.left
		r.ids = slices.Grow(r.ids, p.words)[:p.from+p.words]
		b := in.b
		ids := r.ids[p.from:]
		for i := range ids {
			id, w := uint32(b[0]), 1
			if id >= 0x80 {
				id, w = uvarint(b)
			}
			b = b[w:]
			ids[i] = id
		}
		r.pages = append(r.pages, p)
	}
}

// read walks over the words of candidate k. It leaves what it found in the
// reader, and the candidate's vector in s.rank.vectors.
func (s *search) read(k int) {
	r, terms := &s.rank.reader, s.q.terms
	for i := range terms {
		r.tfs[i], r.gain[i], r.last[i] = 0, 0, -2*nearWords
	}
	r.timed, r.title = false, heading{}
	clear(r.counts[:len(r.groups)])
	r.seen = r.seen[:0]
	title, p := uint32(s.ix.weights.Title), r.pages[k]
	for at, n := range r.ids[p.from : p.from+p.words] {
		m := &r.met[n]
		times := uint32(1)
		if at < p.titled {
			times = title
		} else if m.time {
			r.timed = true
		}
		if m.groups != 0 {
			for j, g := range r.groupSets[m.groups-1] {
				for ; g != 0; g &= g - 1 {
					r.counts[j*64+bits.TrailingZeros64(g)]++
				}
			}
		}
		l := uint32(m.local)
		if l >= maxLocal {
			continue
		}
		if at < p.titled {
			s.headed(l)
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
	v, norm, length := &s.rank.vectors, 0.0, s.view.lengthOf(s.heap[k])
	once, entries := s.sat.impact(1, length), 0
	into, weights := v.begin(len(r.seen))
	for _, l := range r.seen {
		if x := r.idfs[l]; x > 0 {
			if f := r.freqs[l]; f == 1 {
				x *= once
			} else {
				x *= s.sat.impact(f, length)
			}
			into[entries], weights[entries] = l, float32(x)
			entries++
			norm += x * x
		}
		r.freqs[l] = 0
	}
	v.end(entries, norm)
	if p.cut {
		s.lookUpTFs(s.heap[k])
	}
}

// headed notes that the title at hand has the term with a number.
func (s *search) headed(number uint32) {
	r := &s.rank.reader
	weight := r.idfs[number]
	if weight == 0 { // no other document has it
		weight = math.Log(float64(s.view.docs + 1))
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
func (s *search) lookUpTFs(c candidate) {
	r := &s.rank.reader
	var cur cursor
	for i, t := range s.q.terms {
		r.tfs[i] = 0
		if c.seg == nil {
			r.tfs[i] = s.view.tail[c.at].tf(t.id)
			continue
		}
		for part := range parts {
			if cur.reset(c.seg, t.id, part) && cur.seek(c.at) == c.at {
				r.tfs[i] = cur.tf(cur.pos)
			}
		}
	}
}

// letterScore weighs the letter groups of the document at hand by BM25.
func (s *search) letterScore(length uint32) float64 {
	r, w := &s.rank.reader, &s.ix.weights
	k := w.LettersK * (1 - w.LettersB + w.LettersB*float64(length)/max(s.view.average(), 1))
	sum, once := 0.0, 1/(1+k)
	for i, x := range r.weights {
		switch n := float64(r.counts[i]); n {
		case 0:
		case 1:
			sum += x * once
		default:
			sum += x * n / (n + k)
		}
	}
	return sum
}
