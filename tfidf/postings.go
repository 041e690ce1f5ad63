package tfidf

import (
	"encoding/binary"
	"math"
)

// blockSize is how many postings are decoded at once and share one bound.
const blockSize = 128

// block describes up to blockSize postings of one term in segment.data.
type block struct {
	last uint32  // the last document in it
	off  uint32  // where its postings start
	max  float32 // none of its postings has a greater share (see saturation.share), at the segment's average length
}

// head tells where the posting list of a term lies in a segment.
type head struct {
	first uint32 // its first block
	count uint32 // its postings
	heavy uint32 // how many of them are in its first part; see postingWriter
}

// blocksOf returns how many blocks n postings fill.
func blocksOf(n uint32) uint32 { return (n + blockSize - 1) / blockSize }

// postingWriter writes the posting lists of a segment, term after term, each
// in the order of documents.
//
// A long list is written in two parts: first its heavy postings, of which there
// are few, then the light ones. A search that bounds what a frequent term can
// add need not assume the most that it adds anywhere, such as in a title.
//
// A block is one byte that holds how many bytes a document takes (low two
// bits) and a frequency takes (next two), then the distances between
// documents, then the frequencies, which are left out if all are 1.
type postingWriter struct {
	seg    *segment
	norm   saturation
	list   []posting // of the term at hand; posting.term is the document
	shares []float32 // of each
	last   uint32    // the document before the block
}

func (w *postingWriter) begin(term uint32) {
	w.seg.terms = append(w.seg.terms, term)
	w.seg.heads = append(w.seg.heads, head{first: uint32(len(w.seg.blocks))})
	w.list, w.shares = w.list[:0], w.shares[:0]
}

func (w *postingWriter) add(doc, tf uint32) {
	w.list = append(w.list, posting{doc, tf})
	w.shares = append(w.shares, roundUp(w.norm.share(classTF(tfClass(tf)), classLength(uint32(w.seg.norms[doc])))))
}

// end finishes the term; one without postings leaves no trace.
func (w *postingWriter) end() {
	s, n := w.seg, len(w.seg.terms)-1
	if len(w.list) == 0 {
		s.terms, s.heads = s.terms[:n], s.heads[:n]
		return
	}
	s.heads[n].count = uint32(len(w.list))
	least := w.heavyFrom()
	if least > 0 {
		s.heads[n].heavy = w.part(func(share float32) bool { return share >= least })
	}
	w.part(func(share float32) bool { return least == 0 || share < least })
}

const (
	// splitFrom is how long a list is that is written in two parts.
	splitFrom = 4 * blockSize
	// heavyPart is the part of a list, one in so many, that is heavy at most.
	heavyPart = 8
	// shareSteps is how finely shares are told apart for that.
	shareSteps = 64
)

// heavyFrom returns the share from which on postings of the list at hand are
// heavy, or 0 if the list is not to be split.
func (w *postingWriter) heavyFrom() float32 {
	if len(w.list) < splitFrom {
		return 0
	}
	var counts [shareSteps + 1]int
	for _, share := range w.shares {
		counts[int(share*shareSteps)]++
	}
	step, sum := len(counts), 0
	for step > 0 && sum+counts[step-1] <= len(w.list)/heavyPart {
		step--
		sum += counts[step]
	}
	if sum == 0 || sum == len(w.list) {
		return 0
	}
	return float32(step) / shareSteps
}

// part writes the postings of the list at hand that are chosen by their share
// and returns how many they are.
func (w *postingWriter) part(chosen func(float32) bool) (n uint32) {
	w.last = 0
	var docs, tfs [blockSize]uint32
	fill, most := 0, float32(0)
	for i, p := range w.list {
		if !chosen(w.shares[i]) {
			continue
		}
		docs[fill], tfs[fill], most = p.term, p.tf, max(most, w.shares[i])
		n++
		if fill++; fill == blockSize {
			w.flush(docs[:], tfs[:], most)
			fill, most = 0, 0
		}
	}
	if fill > 0 {
		w.flush(docs[:fill], tfs[:fill], most)
	}
	return n
}

// flush writes a block.
func (w *postingWriter) flush(docs, tfs []uint32, share float32) {
	s := w.seg
	b := block{last: docs[len(docs)-1], off: uint32(len(s.data)), max: share}
	var gap, most uint32
	prev := w.last
	for i, d := range docs {
		gap, prev = max(gap, d-prev), d
		most = max(most, tfs[i])
	}
	dw, tw := width(gap), width(most)
	if most == 1 {
		tw = 0
	}
	s.data = append(s.data, byte(dw|tw<<2))
	prev = w.last
	for _, d := range docs {
		s.data = appendInt(s.data, d-prev, dw)
		prev = d
	}
	for _, tf := range tfs {
		s.data = appendInt(s.data, tf, tw)
	}
	s.blocks = append(s.blocks, b)
	w.last = b.last
}

// roundUp converts so that a bound stays one.
func roundUp(x float64) float32 {
	f := float32(x)
	if float64(f) < x {
		f = math.Nextafter32(f, math.MaxFloat32)
	}
	return f
}

// width returns how many bytes x takes, as 1, 2 or 3 for four.
func width(x uint32) int {
	switch {
	case x < 1<<8:
		return 1
	case x < 1<<16:
		return 2
	}
	return 3
}

func appendInt(b []byte, x uint32, width int) []byte {
	switch width {
	case 0:
		return b
	case 1:
		return append(b, byte(x))
	case 2:
		return binary.LittleEndian.AppendUint16(b, uint16(x))
	}
	return binary.LittleEndian.AppendUint32(b, x)
}

// none is past every document.
const none = math.MaxUint32

// A posting list has two parts, each in the order of documents.
const (
	heavy = iota
	light // all, if the list is not split
	parts
)

// cursor walks over one part of a posting list.
type cursor struct {
	blocks []block
	data   []byte
	total  int // postings in all
	at     int // the block that is next or decoded
	open   bool
	n      int // postings in the decoded block
	pos    int
	wide   int // bytes of a frequency: 0, 1, 2 or 3 for four
	tfData []byte
	docs   [blockSize]uint32
}

// reset points c at the postings of a term in s and tells whether there are any.
func (c *cursor) reset(s *segment, term uint32, part int) bool {
	i, ok := s.find(term)
	if !ok {
		c.blocks, c.total = nil, 0
		return false
	}
	return c.resetAt(s, i, part)
}

// resetAt is reset by where the term lies in s.terms.
func (c *cursor) resetAt(s *segment, i, part int) bool {
	h, n := s.heads[i], uint32(0)
	from := h.first
	if part == heavy {
		n = h.heavy
	} else {
		n = h.count - h.heavy
		from += blocksOf(h.heavy)
	}
	to := from + blocksOf(n)
	c.total = int(n)
	c.blocks, c.data = s.blocks[from:to], s.data
	c.at, c.open, c.pos = 0, false, 0
	return c.total > 0
}

// all yields the documents of the cursor's part and their frequencies, in order.
func (c *cursor) all(yield func(doc, tf uint32) bool) {
	for c.at = range c.blocks {
		c.decode()
		for i, d := range c.docs[:c.n] {
			if !yield(d, c.tf(i)) {
				return
			}
		}
	}
}

// decode opens block c.at.
func (c *cursor) decode() {
	b := c.data[c.blocks[c.at].off:]
	c.n = min(blockSize, c.total-c.at*blockSize)
	doc := uint32(0)
	if c.at > 0 {
		doc = c.blocks[c.at-1].last
	}
	head := b[0]
	b = b[1:]
	docs := c.docs[:c.n]
	switch head & 3 {
	case 1:
		in := b[:len(docs)]
		for i, g := range in {
			doc += uint32(g)
			docs[i] = doc
		}
		b = b[len(docs):]
	case 2:
		for i := range docs {
			doc += uint32(binary.LittleEndian.Uint16(b[2*i:]))
			docs[i] = doc
		}
		b = b[2*len(docs):]
	default:
		for i := range docs {
			doc += binary.LittleEndian.Uint32(b[4*i:])
			docs[i] = doc
		}
		b = b[4*len(docs):]
	}
	c.wide, c.tfData = int(head>>2), b
	c.open, c.pos = true, 0
}

// tf returns the frequency at position i of the decoded block.
func (c *cursor) tf(i int) uint32 {
	switch c.wide {
	case 0:
		return 1
	case 1:
		return uint32(c.tfData[i])
	case 2:
		return uint32(binary.LittleEndian.Uint16(c.tfData[2*i:]))
	}
	return binary.LittleEndian.Uint32(c.tfData[4*i:])
}

// seek moves to the first posting at or after doc and returns its document,
// or none. It never moves back.
func (c *cursor) seek(doc uint32) uint32 {
	if !c.seekBlock(doc) {
		return none
	}
	if !c.open {
		c.decode()
	}
	docs := c.docs[:c.n]
	i := c.pos
	for docs[i] < doc { // the block's last document stops it
		i++
	}
	c.pos = i
	return docs[i]
}

// seekBlock moves to the block that would hold doc, without decoding it, and
// tells whether there is one.
func (c *cursor) seekBlock(doc uint32) bool {
	if c.at >= len(c.blocks) {
		return false
	}
	if c.blocks[c.at].last >= doc {
		return true
	}
	c.open = false
	step := 1
	lo := c.at + 1
	for lo+step < len(c.blocks) && c.blocks[lo+step].last < doc {
		lo += step
		step *= 2
	}
	hi := min(lo+step, len(c.blocks))
	for lo < hi {
		mid := (lo + hi) / 2
		if c.blocks[mid].last < doc {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	c.at = lo
	return c.at < len(c.blocks)
}
