package tfidf

import (
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"
)

// windowDocs is how many documents of a segment are scored at a time: their
// scores and lengths stay in the nearest cache.
const windowDocs = 8192

// windowsOf returns how many windows n documents fill.
func windowsOf(n int) int { return (n + windowDocs - 1) / windowDocs }

// scores holds the scores of a window's documents, two bytes each, so that
// eight bytes are read and compared at once.
type scores [2 * windowDocs]byte

func (s *scores) of(d uint32) uint32 {
	return uint32(binary.LittleEndian.Uint16(s[2*d&(2*windowDocs-2):]))
}

func (s *scores) add(d, x uint32) {
	at := s[2*d&(2*windowDocs-2):]
	binary.LittleEndian.PutUint16(at, binary.LittleEndian.Uint16(at)+uint16(x))
}

// sweep appends to out the documents lo ≤ d < hi that have at least a score. lo
// is a multiple of 16.
func (s *scores) sweep(out []uint32, lo, hi, least uint32) []uint32 {
	const high, each = 0x8000_8000_8000_8000, 0x0001_0001_0001_0001
	// Scores are below 2¹⁵. With the topmost bit set a score stays above the
	// least one, and keeps the bit, if and only if it reaches that.
	need := uint64(least) * each
	for at := 2 * lo; at < 2*hi; at += 32 {
		b := s[at : at+32]
		x0, x1 := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
		x2, x3 := binary.LittleEndian.Uint64(b[16:]), binary.LittleEndian.Uint64(b[24:])
		x0, x1, x2, x3 = (x0|high)-need, (x1|high)-need, (x2|high)-need, (x3|high)-need
		if (x0|x1|x2|x3)&high == 0 {
			continue
		}
		for i, x := range [4]uint64{x0, x1, x2, x3} {
			for x &= high; x != 0; x &= x - 1 {
				out = append(out, at/2+uint32(4*i+bits.TrailingZeros64(x)/16))
			}
		}
	}
	return out
}

// scanSegment finds the documents of a segment that belong among the best, by
// MaxScore (Turtle and Flood, "Query Evaluation: Strategies and
// Optimizations", 1995) over windows, with the bounds of blocks (Ding and
// Suel, "Faster Top-k Document Retrieval Using Block-Max Indexes", 2011).
//
// In each window the weightiest terms, without which no document can reach
// the threshold, are summed over all their documents; the others are looked
// up only for documents that can still reach it, or summed as well where
// those are many.
func (s *search) scanSegment(seg *segment) {
	if !s.openLists(seg) {
		return
	}
	s.ub, s.rest, s.spread = grown(s.ub, len(s.lists)), grown(s.rest, len(s.lists)+1), grown(s.spread, len(s.lists))
	// The bounds hold at the average length of the time at which they were
	// computed. Where documents have become longer since, impacts have grown,
	// at most in proportion.
	raise := max(1, s.sat.excess(seg.average, s.ix.weights)) * (1<<worthBits - 1)
	for lo := 0; lo < seg.docs(); lo += windowDocs {
		s.scanWindow(seg, uint32(lo), uint32(min(lo+windowDocs, seg.docs())), raise)
	}
}

// list is a part of a term's posting list in the segment at hand.
type list struct {
	cursor
	share uint32  // the term's
	dear  float64 // how many postings it has for what it can be worth
}

// openLists sets up the lists of the query's terms in a segment, those first
// that have few postings for what they can be worth, and tells whether there
// are any: the last ones are those that are better not read.
func (s *search) openLists(seg *segment) bool {
	s.lists = s.lists[:0]
	for i := range s.q.terms {
		t := &s.q.terms[i]
		at, ok := seg.find(t.id)
		if !ok || t.share == 0 {
			continue
		}
		for part := range parts {
			n := len(s.lists)
			s.lists = slices.Grow(s.lists, 1)[:n+1]
			l := &s.lists[n]
			if !l.resetAt(seg, at, part) {
				s.lists = s.lists[:n]
				continue
			}
			worth := float64(t.share)
			if part == light && seg.heads[at].heavy > 0 {
				worth /= 2 // about: to read a block's bound is to wait for memory
			}
			l.share, l.dear = t.share, float64(l.total)/worth
		}
	}
	s.order = grown(s.order, len(s.lists))
	for i := range s.order {
		s.order[i] = &s.lists[i]
	}
	slices.SortFunc(s.order, func(a, b *list) int { return cmp.Compare(a.dear, b.dear) })
	return len(s.lists) > 0
}

// excess returns by how much at most an impact under n exceeds the one that was
// computed with another average length.
func (n saturation) excess(average float64, w Weights) float64 {
	if n.slope == 0 {
		return 1
	}
	return newSaturation(w, average).slope / n.slope
}

// bound finds the most that each list is worth in the documents lo ≤ d < hi,
// in s.ub, and in s.rest what it and all after it are together.
func (s *search) bound(lo, hi uint32, raise float64) {
	for i, c := range s.order {
		s.ub[i], s.spread[i] = 0, 0
		if !c.seekBlock(lo) {
			continue
		}
		from, b := c.at, c.at
		most := c.blocks[b].max
		for ; c.blocks[b].last < hi-1 && b+1 < len(c.blocks); b++ {
			most = max(most, c.blocks[b+1].max)
		}
		// One more, because both are rounded.
		s.ub[i] = scaled(min(uint32(float64(most)*raise)+1, 1<<worthBits-1), c.share)
		s.spread[i] = b + 1 - from
	}
	s.rest[len(s.order)] = 0
	for i := len(s.order) - 1; i >= 0; i-- {
		s.rest[i] = s.rest[i+1] + s.ub[i]
	}
}

// settled is which part of the threshold, one in so many, may be unknown when a
// window's scores are first looked at. With less than all of it, few documents
// are looked at that have no chance.
const settled = 6

// lookUps is how many documents are looked up in a list for each block that it
// has in the window, before reading all of the list is cheaper.
const lookUps = 4

// scanWindow scores the documents lo ≤ d < hi of a segment.
func (s *search) scanWindow(seg *segment, lo, hi uint32, raise float64) {
	need := s.threshold()
	ascends := seg.runs[lo/windowDocs] != 0
	if ascends && s.full() && s.view.id(s.heap[0]) < seg.id(lo) {
		need++ // of equal scores none has an ID that is low enough
	}
	s.bound(lo, hi, raise)
	if s.rest[0] < need || !s.anyWithin(seg, lo, hi) {
		return
	}
	essential := len(s.order)
	for essential > 0 && (s.ub[essential-1] == 0 || settled*s.rest[essential-1] < need) {
		essential--
	}
	if s.scores == nil {
		s.scores = new(scores)
	}
	for i, l := range s.order[:essential] {
		if s.ub[i] > 0 {
			s.accumulate(l, seg, lo, hi)
		}
	}
	// Where all has been summed, the documents are offered a few at a time, so that
	// those behind have to beat what was found before.
	step := hi - lo
	if essential == len(s.order) {
		step = sweepDocs
	}
	for at := uint32(0); at < hi-lo; at += step {
		found := s.scores.sweep(s.found[:0], at, min(at+step, hi-lo), need-s.rest[essential])
		if seg.dead.Load() > 0 || s.filtered {
			found = s.narrow(found, seg, lo)
		}
		found = s.complete(found, essential, need, seg, lo, hi)
		for _, d := range found {
			score := s.scores.of(d)
			if score < need {
				continue
			}
			if s.offer(candidate{score: score, seg: seg, at: lo + d}) {
				need = s.threshold()
			} else if ascends && s.prune {
				need++ // equal scores are of no use from here on
			}
		}
		s.found = found
	}
	clear(s.scores[:2*(hi-lo)])
}

// sweepDocs is how many documents are offered at a time.
const sweepDocs = 256

// complete adds to the scores of the documents found what the lists from
// number i on are worth in them, and leaves those that can reach need.
func (s *search) complete(found []uint32, i int, need uint32, seg *segment, lo, hi uint32) []uint32 {
	for ; i < len(s.order) && len(found) > 0; i++ {
		if s.ub[i] == 0 {
			continue
		}
		if l := s.order[i]; len(found) > lookUps*s.spread[i] {
			s.accumulate(l, seg, lo, hi)
		} else {
			for _, d := range found {
				if l.seek(lo+d) == lo+d {
					s.scores.add(d, s.worths.in(l.share, l.tf(l.pos), seg.norms[lo+d]))
				}
			}
		}
		kept := found[:0]
		for _, d := range found {
			if s.scores.of(d)+s.rest[i+1] >= need {
				kept = append(kept, d)
			}
		}
		found = kept
	}
	return found
}

// anyWithin tells whether any of the documents lo ≤ d < hi may lie within the
// bounds of the query. What is asked for by time was often written together,
// and then most windows need not be read.
func (s *search) anyWithin(seg *segment, lo, hi uint32) bool {
	if !s.bounded || len(seg.moments) == 0 {
		return true
	}
	return slices.ContainsFunc(seg.moments[lo:hi], s.within)
}

// narrow leaves those of the documents found that live and fit the filter.
func (s *search) narrow(found []uint32, seg *segment, lo uint32) []uint32 {
	whole, kept := seg.dead.Load() == 0, found[:0]
	for _, d := range found {
		if (whole || seg.alive(lo+d, s.view.seq)) && (!s.filtered || s.fits(seg, lo+d)) {
			kept = append(kept, d)
		}
	}
	return kept
}

// accumulate adds what a term is worth to the scores of all documents
// lo ≤ d < hi that have it.
func (s *search) accumulate(c *list, seg *segment, lo, hi uint32) {
	if c.seek(lo) == none {
		return
	}
	scores, norms, of, share := s.scores, seg.norms[lo:hi], &s.worths.of, c.share
	for {
		docs := c.docs[c.pos:c.n]
		if c.blocks[c.at].last >= hi {
			n := 0
			for docs[n] < hi {
				n++
			}
			docs = docs[:n]
		}
		switch c.wide {
		case 0:
			for _, d := range docs {
				d -= lo
				scores.add(d, scaled(uint32(of[lengthClasses+uint32(norms[d])]), share))
			}
		case 1:
			tfs := c.tfData[c.pos:][:len(docs)]
			for i, d := range docs {
				d -= lo
				scores.add(d, scaled(uint32(of[(uint32(tfClassOf[tfs[i]])*lengthClasses+uint32(norms[d]))%uint32(len(of))]), share))
			}
		default:
			for i, d := range docs {
				d -= lo
				scores.add(d, s.worths.in(share, c.tf(c.pos+i), norms[d]))
			}
		}
		c.pos += len(docs)
		if c.pos < c.n {
			return
		}
		c.at++
		c.open = false
		for c.at < len(c.blocks) && c.blocks[c.at].last < hi && s.accumulateBlock(c, norms, lo) {
			c.at++
		}
		if c.at == len(c.blocks) {
			return
		}
		c.decode()
	}
}

// accumulateBlock is accumulate for block c.at, all of which lies in the
// window, if its documents lie close together and their frequencies are small,
// as those of a frequent term do. It tells whether it did.
func (s *search) accumulateBlock(c *list, norms []uint8, lo uint32) bool {
	in := c.data[c.blocks[c.at].off:]
	n := min(blockSize, c.total-c.at*blockSize)
	scores, of, share := s.scores, &s.worths.of, c.share
	d := c.blocks[c.at-1].last - lo
	switch gaps := in[1:][:n]; in[0] {
	case 1:
		for _, gap := range gaps {
			d += uint32(gap)
			scores.add(d, scaled(uint32(of[lengthClasses+uint32(norms[d])]), share))
		}
	case 1 | 1<<2:
		tfs := in[1+n:][:n]
		for i, gap := range gaps {
			d += uint32(gap)
			scores.add(d, scaled(uint32(of[(uint32(tfClassOf[tfs[i]])*lengthClasses+uint32(norms[d]))%uint32(len(of))]), share))
		}
	default:
		return false
	}
	return true
}
