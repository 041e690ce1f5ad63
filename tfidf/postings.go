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

// postingWriter writes the posting lists of a segment, term after term, each
// in the order of documents.
//
// A block is one byte that holds how many bytes a document takes (low two
// bits) and a frequency takes (next two), then the distances between
// documents, then the frequencies, which are left out if all are 1.
type postingWriter struct {
	seg  *segment
	norm saturation
	last uint32 // the document before the block
	docs []uint32
	tfs  []uint32
}

func (w *postingWriter) begin(term uint32) {
	w.seg.terms = append(w.seg.terms, term)
	w.seg.first = append(w.seg.first, uint32(len(w.seg.blocks)))
	w.seg.counts = append(w.seg.counts, 0)
	w.last = 0
}

func (w *postingWriter) add(doc, tf uint32) {
	w.docs, w.tfs = append(w.docs, doc), append(w.tfs, tf)
	if len(w.docs) == blockSize {
		w.flush()
	}
}

// end finishes the term; one without postings leaves no trace.
func (w *postingWriter) end() {
	w.flush()
	s := w.seg
	if n := len(s.terms) - 1; s.counts[n] == 0 {
		s.terms, s.first, s.counts = s.terms[:n], s.first[:n], s.counts[:n]
	}
}

func (w *postingWriter) flush() {
	if len(w.docs) == 0 {
		return
	}
	s := w.seg
	b := block{last: w.docs[len(w.docs)-1], off: uint32(len(s.data))}
	var gap, most uint32
	prev := w.last
	for i, d := range w.docs {
		gap, prev = max(gap, d-prev), d
		most = max(most, w.tfs[i])
		b.max = max(b.max, roundUp(w.norm.share(classTF(tfClass(w.tfs[i])), classLength(uint32(s.norms[d])))))
	}
	dw, tw := width(gap), width(most)
	if most == 1 {
		tw = 0
	}
	s.data = append(s.data, byte(dw|tw<<2))
	prev = w.last
	for _, d := range w.docs {
		s.data = appendInt(s.data, d-prev, dw)
		prev = d
	}
	for _, tf := range w.tfs {
		s.data = appendInt(s.data, tf, tw)
	}
	s.blocks = append(s.blocks, b)
	s.counts[len(s.counts)-1] += uint32(len(w.docs))
	w.last = b.last
	w.docs, w.tfs = w.docs[:0], w.tfs[:0]
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

// cursor walks over one posting list.
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
func (c *cursor) reset(s *segment, term uint32) bool {
	i, ok := s.find(term)
	if !ok {
		c.blocks, c.total = nil, 0
		return false
	}
	end := uint32(len(s.blocks))
	if i+1 < len(s.first) {
		end = s.first[i+1]
	}
	c.blocks, c.data, c.total = s.blocks[s.first[i]:end], s.data, int(s.counts[i])
	c.at, c.open, c.pos = 0, false, 0
	return true
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
