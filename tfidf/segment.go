package tfidf

import (
	"runtime"
	"slices"
	"sync/atomic"
	"unsafe"
)

// segment is an immutable part of the index: its documents, numbered from 0,
// and their postings. Only died changes.
//
// Each of its slices is a plain column, without pointers, which the garbage
// collector does not look through.
type segment struct {
	serial  uint32
	average float64 // the average length that the blocks' bounds were computed with

	ids      []byte   // every document's ID
	idStarts []uint32 // where it starts there, and the end of the last
	numbers  []uint32 // the documents' numbers in the index
	lengths  []uint32
	norms    []uint8  // lengthClass of each
	runs     []uint32 // per window of documents, in which run of ascending IDs it lies, or 0
	orders   []int64  // empty if all are 0, like moments
	moments  []int64
	project  []uint32
	category []uint32
	died     []atomic.Uint32 // per document, the sequence number from which it is gone; 0 while it lives
	dead     atomic.Int64    // how many have died

	words  []byte // appendWords of every document
	starts []uint32
	fronts atomic.Pointer[[]front] // of every document; nil until a query of common words is asked

	terms  []uint32 // sorted
	heads  []head   // per term
	blocks []block
	data   []byte
}

// docs returns how many documents there are, dead ones too.
func (s *segment) docs() int { return len(s.lengths) }

// id returns the ID of document d. It is the segment's memory: what goes to a caller is cloned.
func (s *segment) id(d uint32) string {
	id := s.ids[s.idStarts[d]:s.idStarts[d+1]]
	return unsafe.String(unsafe.SliceData(id), len(id))
}

// find returns where a term lies in s.terms. That is never behind the term's
// number, and mostly not far before it: nearly all of the first numbers, which
// frequent terms have, are there.
func (s *segment) find(term uint32) (int, bool) {
	hi := min(len(s.terms), int(term))
	lo, step := hi, 1
	for lo > 0 && s.terms[lo-1] >= term {
		hi = lo
		lo = max(lo-step, 0)
		step *= 2
	}
	i, ok := slices.BinarySearch(s.terms[lo:hi], term)
	return lo + i, ok
}

// appendRun notes in a segment's runs whether the ID of document d is above the one before.
func appendRun(runs []uint32, d int, above bool) []uint32 {
	switch w := d / windowDocs; {
	case d%windowDocs > 0 && !above:
		runs[w] = 0
	case d%windowDocs > 0:
	case above && runs[w-1] != 0:
		runs = append(runs, runs[w-1])
	default:
		runs = append(runs, uint32(w+1))
	}
	return runs
}

// inOneRun tells whether two documents lie in one run of ascending IDs, so
// that their numbers are in the order of those.
func (s *segment) inOneRun(a, b uint32) bool {
	run := s.runs[a/windowDocs]
	return run != 0 && run == s.runs[b/windowDocs]
}

// wordsOf returns appendWords of document d.
func (s *segment) wordsOf(d uint32) []byte { return s.words[s.starts[d]:s.starts[d+1]] }

// alive tells whether document d is seen at a sequence number.
func (s *segment) alive(d, seq uint32) bool {
	at := s.died[d].Load()
	return at == 0 || at > seq
}

// sealer makes segments of documents. Its memory is kept from one to the next.
type sealer struct {
	at   []uint32 // per term: its count, then where its next posting goes; 0 between uses
	flat []uint64 // document and frequency
}

// seal makes a segment of documents, in their order.
func (z *sealer) seal(docs []*doc, w Weights, average float64) *segment {
	s := &segment{average: average}
	size, ids, postings := 0, 0, 0
	var last uint32
	for _, d := range docs {
		size += len(d.words)
		ids += len(d.id)
		postings += len(d.terms) + len(d.attrs)
		for _, t := range d.terms {
			last = max(last, t.term)
		}
		for _, t := range d.attrs {
			last = max(last, t)
		}
	}
	s.grow(len(docs), ids, size)
	for i, d := range docs {
		s.append(d.id, d.number, d.length, d.order, d.moment, d.words)
		s.project, s.category = append(s.project, d.project), append(s.category, d.category)
		s.died[i].Store(d.died.Load())
		if d.died.Load() != 0 {
			s.dead.Add(1)
		}
	}
	// Count each term, lay the lists out in the order of terms, and fill them.
	if n := int(last) + 1; n > len(z.at) {
		z.at = make([]uint32, n+n/4)
	}
	at := z.at
	var terms []uint32
	count := func(t uint32) {
		if at[t] == 0 {
			terms = append(terms, t)
		}
		at[t]++
	}
	for _, d := range docs {
		for _, p := range d.terms {
			count(p.term)
		}
		for _, t := range d.attrs {
			count(t)
		}
	}
	slices.Sort(terms)
	ends := make([]uint32, len(terms))
	sum := uint32(0)
	for i, t := range terms {
		sum, at[t] = sum+at[t], sum
		ends[i] = sum
	}
	if postings > cap(z.flat) {
		z.flat = make([]uint64, postings)
	}
	flat := z.flat[:postings]
	for i, d := range docs {
		for _, p := range d.terms {
			flat[at[p.term]] = uint64(i)<<32 | uint64(p.tf)
			at[p.term]++
		}
		for _, t := range d.attrs {
			flat[at[t]] = uint64(i)<<32 | 1
			at[t]++
		}
	}
	out := postingWriter{seg: s, norm: newSaturation(w, average)}
	from := uint32(0)
	for i, t := range terms {
		out.begin(t)
		for _, p := range flat[from:ends[i]] {
			out.add(uint32(p>>32), uint32(p))
		}
		out.end()
		from = ends[i]
		at[t] = 0
	}
	s.clip()
	return s
}

// grow makes room for n documents, of which the IDs and words take that many bytes.
func (s *segment) grow(n, ids, words int) {
	s.ids = make([]byte, 0, ids)
	s.idStarts = append(make([]uint32, 0, n+1), 0)
	s.words = make([]byte, 0, words)
	s.numbers = make([]uint32, 0, n)
	s.lengths = make([]uint32, 0, n)
	s.norms = make([]uint8, 0, n)
	s.runs = make([]uint32, 0, windowsOf(n))
	s.project, s.category = make([]uint32, 0, n), make([]uint32, 0, n)
	s.died = make([]atomic.Uint32, n)
	s.starts = append(make([]uint32, 0, n+1), 0)
}

func (s *segment) append(id string, number, length uint32, order, moment int64, words []byte) {
	s.orders, s.moments = s.appendTo(s.orders, order), s.appendTo(s.moments, moment)
	d := s.docs()
	s.runs = appendRun(s.runs, d, d > 0 && s.id(uint32(d-1)) < id)
	s.ids = append(s.ids, id...)
	s.idStarts = append(s.idStarts, uint32(len(s.ids)))
	s.numbers = append(s.numbers, number)
	s.lengths = append(s.lengths, length)
	s.norms = append(s.norms, lengthClass(length))
	s.words = append(s.words, words...)
	s.starts = append(s.starts, uint32(len(s.words)))
}

// appendTo appends the number of the next document to a column that is empty as long as all are 0.
func (s *segment) appendTo(column []int64, x int64) []int64 {
	if len(column) == 0 {
		if x == 0 {
			return column
		}
		column = make([]int64, s.docs(), cap(s.lengths))
	}
	return append(column, x)
}

// order returns the Document.Order of document d.
func (s *segment) order(d uint32) int64 {
	if len(s.orders) == 0 {
		return 0
	}
	return s.orders[d]
}

// moment returns the Document.At of document d.
func (s *segment) moment(d uint32) int64 {
	if len(s.moments) == 0 {
		return 0
	}
	return s.moments[d]
}

func (s *segment) clip() {
	s.terms, s.heads = slices.Clone(s.terms), slices.Clone(s.heads)
	s.blocks, s.data = slices.Clone(s.blocks), slices.Clone(s.data)
	if cap(s.words)-len(s.words) > len(s.words)/8 { // many of those that it was sized for had died
		s.words, s.ids = slices.Clone(s.words), slices.Clone(s.ids)
	}
}

// mergeBreath is how many documents or postings a merge copies before it lets a
// search go first that waits for a core: a tenth of a millisecond's work, where
// the scheduler alone would make it wait for ten.
const mergeBreath = 4096

// merge makes one segment of the documents that live in several. It also
// returns, per segment, the new number of each document, none for a dead one.
func merge(segs []*segment, w Weights, average float64) (*segment, [][]uint32) {
	live, ids, size := 0, 0, 0
	for _, s := range segs {
		live += s.docs() - int(s.dead.Load())
		ids += len(s.ids)
		size += len(s.words)
	}
	out := &segment{average: average}
	out.grow(live, ids, size)
	moved := make([][]uint32, len(segs))
	for i, s := range segs {
		moved[i] = make([]uint32, s.docs())
		for d := range uint32(s.docs()) {
			if d%mergeBreath == 0 {
				runtime.Gosched()
			}
			if s.died[d].Load() != 0 {
				moved[i][d] = none
				continue
			}
			moved[i][d] = uint32(out.docs())
			out.append(s.id(d), s.numbers[d], s.lengths[d], s.order(d), s.moment(d), s.wordsOf(d))
			out.project, out.category = append(out.project, s.project[d]), append(out.category, s.category[d])
		}
	}
	out.died = out.died[:out.docs()]
	pw := postingWriter{seg: out, norm: newSaturation(w, average)}
	next := make([]int, len(segs))
	var both [parts]cursor
	for copied := 0; ; {
		if copied > mergeBreath {
			copied = 0
			runtime.Gosched()
		}
		term := uint32(none)
		for i, s := range segs {
			if next[i] < len(s.terms) {
				term = min(term, s.terms[next[i]])
			}
		}
		if term == none {
			break
		}
		pw.begin(term)
		for i, s := range segs {
			if next[i] == len(s.terms) || s.terms[next[i]] != term {
				continue
			}
			for part := range both {
				both[part].resetAt(s, next[i], part)
			}
			for doc, tf := range inOrder(&both) {
				copied++
				if to := moved[i][doc]; to != none {
					pw.add(to, tf)
				}
			}
			next[i]++
		}
		pw.end()
	}
	out.clip()
	return out, moved
}

// inOrder yields the postings of both parts of a list in the order of documents.
func inOrder(both *[parts]cursor) func(yield func(doc, tf uint32) bool) {
	return func(yield func(doc, tf uint32) bool) {
		a, b := &both[heavy], &both[light]
		x, y := a.next(), b.next()
		for x != none || y != none {
			least := a
			if y < x {
				least = b
			}
			if !yield(min(x, y), least.tf(least.pos)) {
				return
			}
			least.pos++
			if least == a {
				x = a.next()
			} else {
				y = b.next()
			}
		}
	}
}

// next opens the next block if the one at hand is done, and returns the
// document at c.pos, or none.
func (c *cursor) next() uint32 {
	if c.open && c.pos == c.n {
		c.at++
		c.open = false
	}
	if c.at == len(c.blocks) {
		return none
	}
	if !c.open {
		c.decode()
	}
	return c.docs[c.pos]
}
