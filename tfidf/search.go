package tfidf

import (
	"cmp"
	"slices"
	"sync"
)

const (
	// depth is how many candidates the second pass scores. More change nothing
	// that a reader of ten hits sees.
	depth = 64
	// narrow is the most documents of a filter that are gathered and scored one by
	// one; with more, the search goes over the index and leaves out what does not fit.
	narrow = 8192
	// narrowPart is the part of all documents, one in so many, up to which a filter without tags is narrow: to go over the
	// index costs less from there on, since it tells a project by a number. Tags stand among a document's words.
	narrowPart = 64
)

// candidate is a document that the first pass found.
type candidate struct {
	score uint32
	seg   *segment // nil if it is in the tail
	at    uint32
}

// before orders candidates: the better first, equal ones by id, so that the
// order does not depend on where a document happens to lie.
func (v *view) before(a, b candidate) bool {
	switch {
	case a.score != b.score:
		return a.score > b.score
	case a.seg == b.seg && a.seg != nil && a.seg.inOneRun(a.at, b.at):
		return a.at < b.at
	}
	return v.id(a) < v.id(b)
}

// id returns the candidate's Document.ID, which may be the segment's memory.
func (v *view) id(c candidate) string {
	if c.seg == nil {
		return v.tail[c.at].id
	}
	return c.seg.id(c.at)
}

// words returns the candidate's appendWords.
func (v *view) words(c candidate) []byte {
	if c.seg == nil {
		return v.tail[c.at].words
	}
	return c.seg.wordsOf(c.at)
}

// length returns the candidate's length as BM25 sees it.
func (v *view) lengthOf(c candidate) uint32 {
	if c.seg == nil {
		return v.tail[c.at].length
	}
	return c.seg.lengths[c.at]
}

// order returns the candidate's Document.Order.
func (v *view) order(c candidate) int64 {
	if c.seg == nil {
		return v.tail[c.at].order
	}
	return c.seg.order(c.at)
}

// search is one search under way, with its scratch memory.
type search struct {
	ix                *Index
	view              *view
	filter            []uint32 // attributes that a document must have, the rarest first
	project, category uint32   // which of filter are these, or 0
	tags              []uint32 // and the others
	from, to          int64    // see Query
	bounded           bool     // by from or to
	filtered          bool     // by attributes or bounds
	q                 question
	sat               saturation
	heap              []candidate // the worst first
	want              int
	corpus            *Corpus // see Query
	prune             bool    // leave out what cannot be among the best; false in tests only

	worths *worths
	lists  []list
	order  []*list    // in the order of scanning
	segs   []*segment // in the order of scanning
	scores *scores    // of a window's documents, all 0 between windows
	found  []uint32   // a window's documents that may be among the best
	ub     []uint32
	rest   []uint32
	spread []int // per list, how many of its blocks the window meets
	part   []narrowed
	tfs    []uint16
	begin  beginning
	rank   ranking
}

var searches = sync.Pool{New: func() any { return new(search) }}

// Search answers q. It never fails: a query that nothing matches has no hits.
func (ix *Index) Search(q Query) Result { return ix.search(q, true) }

func (ix *Index) search(q Query, prune bool) Result {
	s := searches.Get().(*search)
	defer s.release()
	s.ix, s.view, s.prune = ix, ix.view.Load(), prune
	limit := q.Limit
	if limit <= 0 {
		limit = DefaultLimit
	}
	limit = min(limit, MaxLimit)
	s.want = max(depth, limit)

	s.q, s.corpus = ix.parse(q.Text, s.view), q.Corpus
	if q.Exact {
		s.q.exact(q.Corpus, func(term uint32) string { return string(ix.vocab.text(term)) })
	}
	res := Result{Corrected: s.q.corrected, Unknown: s.q.unknown}
	if q.Exact {
		res.Unknown = nil
	}
	for _, t := range s.q.terms {
		if q.Exact { // which of the words are known tells of others' documents
			break
		}
		res.Terms = append(res.Terms, t.text)
	}
	few, ok := s.narrowest(q)
	if !ok || len(s.q.terms) == 0 || s.view.docs == 0 {
		return res
	}
	if len(s.filter) > 0 && few <= narrow && (len(s.tags) > 0 || few*narrowPart <= s.view.docs) {
		s.scanPart()
	} else {
		s.statistics()
		// The largest first: it is where the best are, beside which the rest is skipped.
		s.segs = append(s.segs[:0], s.view.segs...)
		slices.SortFunc(s.segs, func(a, b *segment) int { return cmp.Compare(b.docs(), a.docs()) })
		for _, seg := range s.segs {
			s.scanSegment(seg)
		}
		s.scanTail()
	}
	s.begins(q.Text, limit)
	slices.SortFunc(s.heap, func(a, b candidate) int {
		if s.view.before(a, b) {
			return -1
		}
		return 1
	})
	res.Hits = s.rerank(limit, q.Explain)
	return res
}

// release gives the scratch memory back, without what would keep documents from being freed.
func (s *search) release() {
	clear(s.heap)
	clear(s.part)
	clear(s.segs)
	clear(s.lists[:cap(s.lists)])
	clear(s.begin.found)
	s.heap, s.part, s.filter, s.q = s.heap[:0], s.part[:0], s.filter[:0], question{}
	s.ix, s.view, s.corpus = nil, nil, nil
	searches.Put(s)
}

// narrowest resolves the filters of q and returns how many documents the
// rarest one has; ok is false if no document can have them all.
func (s *search) narrowest(q Query) (few int, ok bool) {
	few, ok = s.view.docs, true
	s.from, s.to, s.bounded = q.From, q.To, q.From != 0 || q.To != 0
	s.project, s.category, s.tags = 0, 0, s.tags[:0]
	add := func(prefix, value string) uint32 {
		if value == "" {
			return 0
		}
		id := s.ix.vocab.lookup(prefix + value)
		if id == 0 {
			ok = false
			return 0
		}
		if slices.Contains(s.filter, id) {
			return 0
		}
		if n := int(s.ix.vocab.entry(id).df.Load()); n < few || len(s.filter) == 0 {
			few = min(few, n)
			s.filter = slices.Insert(s.filter, 0, id)
		} else {
			s.filter = append(s.filter, id)
		}
		return id
	}
	s.project = add(projectPrefix, q.Project)
	s.category = add(categoryPrefix, q.Category)
	for _, t := range q.Tags {
		if id := add(tagPrefix, t); id != 0 {
			s.tags = append(s.tags, id)
		}
		if len(s.filter) > MaxTags+2 { // no document has as many
			return 0, false
		}
	}
	s.filtered = s.bounded || len(s.filter) > 0
	return few, ok
}

// statistics weighs the terms by how rare they are and orders them, the
// weightiest first. Every score is summed in this order, so that it is the
// same number however it was found.
//
// The statistics are those of the whole index, also where a filter narrows the
// search: measured, they rank better there than those of the part.
func (s *search) statistics() {
	s.sat = newSaturation(s.ix.weights, s.view.average())
	s.worths = s.ix.worthsAt(s.view.average())
	sum := 0.0
	for i := range s.q.terms {
		t := &s.q.terms[i]
		t.factor = t.weight * idf(s.view.docs, t.df)
		sum += t.factor
	}
	slices.SortStableFunc(s.q.terms, func(a, b term) int {
		return cmp.Or(cmp.Compare(b.factor, a.factor), cmp.Compare(a.text, b.text))
	})
	for i := range s.q.terms {
		if t := &s.q.terms[i]; t.factor > 0 {
			t.share = uint32(max(1, t.factor/sum*float64(maxScore-len(s.q.terms))))
		}
	}
}

// full tells whether there are as many candidates as are wanted, so that others must beat the worst.
func (s *search) full() bool { return s.prune && len(s.heap) == s.want }

// offer puts a document among the best and tells whether it belongs there.
func (s *search) offer(c candidate) bool {
	if len(s.heap) < s.want {
		s.heap = append(s.heap, c)
		for i := len(s.heap) - 1; i > 0; {
			p := (i - 1) / 2
			if !s.view.before(s.heap[p], s.heap[i]) {
				break
			}
			s.heap[p], s.heap[i] = s.heap[i], s.heap[p]
			i = p
		}
		return true
	}
	if !s.view.before(c, s.heap[0]) {
		return false
	}
	h := s.heap
	h[0] = c
	for i := 0; ; {
		k := 2*i + 1
		if k >= len(h) {
			return true
		}
		if k+1 < len(h) && s.view.before(h[k], h[k+1]) {
			k++
		}
		if !s.view.before(h[i], h[k]) {
			return true
		}
		h[i], h[k] = h[k], h[i]
		i = k
	}
}

// threshold returns the score that a document must reach to be among the best.
func (s *search) threshold() uint32 {
	if !s.full() {
		return 1
	}
	return s.heap[0].score
}

// fits tells whether document d of a segment has every attribute of the filter.
func (s *search) fits(seg *segment, d uint32) bool {
	return s.within(seg.moment(d)) && (s.project == 0 || seg.project[d] == s.project) && (s.category == 0 || seg.category[d] == s.category) &&
		(len(s.tags) == 0 || hasAll(seg.wordsOf(d), s.tags))
}

// fitsTail is fits for a document of the tail.
func (s *search) fitsTail(d *doc) bool {
	return s.within(d.moment) && (len(s.filter) == 0 || hasAll(d.words, s.filter))
}

// within tells whether a document's moment lies within the bounds.
func (s *search) within(moment int64) bool {
	return !s.bounded || (s.from == 0 || moment >= s.from) && (s.to == 0 || moment < s.to)
}

// hasAll tells whether a document has every one of attrs, which are distinct.
func hasAll(words []byte, attrs []uint32) bool {
	n, at := uvarint(words)
	found := 0
	for range n {
		id, w := uvarint(words[at:])
		at += w
		if slices.Contains(attrs, id) {
			found++
		}
	}
	return found == len(attrs)
}

// scanTail scores the documents that are in no segment yet.
func (s *search) scanTail() {
	for at, d := range s.view.tail {
		if !d.alive(s.view.seq) || !s.fitsTail(d) {
			continue
		}
		score, norm := uint32(0), lengthClass(d.length)
		for _, t := range s.q.terms {
			if tf := d.tf(t.id); tf > 0 {
				score += s.worths.in(t.share, tf, norm)
			}
		}
		if score > 0 {
			s.offer(candidate{score: score, at: uint32(at)})
		}
	}
}

// alive tells whether d is seen at a sequence number.
func (d *doc) alive(seq uint32) bool {
	at := d.died.Load()
	return at == 0 || at > seq
}

// tf returns how often d holds a term.
func (d *doc) tf(id uint32) uint32 {
	i, ok := slices.BinarySearchFunc(d.terms, id, func(p posting, id uint32) int { return cmp.Compare(p.term, id) })
	if !ok {
		return 0
	}
	return d.terms[i].tf
}

// narrowed is a document of a narrow filter.
type narrowed struct {
	seg    *segment // nil if it is in the tail
	at     uint32
	length uint32
}

// scanPart scores the documents that have every attribute of the filter, of
// which there are few.
func (s *search) scanPart() {
	var c cursor
	spans := make([]int, 0, 32) // where each segment's documents start in s.part
	for _, seg := range s.view.segs {
		from := len(s.part)
		spans = append(spans, from)
		for part := range parts {
			if !c.reset(seg, s.filter[0], part) {
				continue
			}
			for d := range c.all {
				if seg.alive(d, s.view.seq) && (len(s.filter) == 1 && !s.bounded || s.fits(seg, d)) {
					s.part = append(s.part, narrowed{seg: seg, at: d, length: seg.lengths[d]})
				}
			}
		}
		slices.SortFunc(s.part[from:], func(a, b narrowed) int { return cmp.Compare(a.at, b.at) })
	}
	spans = append(spans, len(s.part))
	for at, d := range s.view.tail {
		if d.alive(s.view.seq) && s.fitsTail(d) {
			s.part = append(s.part, narrowed{at: uint32(at), length: d.length})
		}
	}
	s.statistics()
	n, terms := len(s.part), s.q.terms
	s.tfs = grown(s.tfs, n*len(terms))
	clear(s.tfs)
	for k := range terms {
		tfs := s.tfs[k*n : (k+1)*n]
		for i, seg := range s.view.segs {
			from, to := spans[i], spans[i+1]
			for half := range parts {
				if from == to || !c.reset(seg, terms[k].id, half) {
					continue
				}
				for j := from; j < to; j++ {
					d := s.part[j].at
					at := c.seek(d)
					if at == none {
						break
					}
					if at == d {
						tfs[j] = uint16(c.tf(c.pos))
					}
				}
			}
		}
		for j := spans[len(spans)-1]; j < n; j++ {
			tfs[j] = uint16(s.view.tail[s.part[j].at].tf(terms[k].id))
		}
	}
	for j, p := range s.part {
		score, norm := uint32(0), lengthClass(p.length)
		for i := range terms {
			if tf := s.tfs[i*n+j]; tf > 0 {
				score += s.worths.in(terms[i].share, uint32(tf), norm)
			}
		}
		if score > 0 {
			s.offer(candidate{score: score, seg: p.seg, at: p.at})
		}
	}
}

// grown returns a slice of n elements, in the memory of s if it is large enough.
func grown[T any](s []T, n int) []T {
	if n > cap(s) {
		return make([]T, n)
	}
	return s[:n]
}
