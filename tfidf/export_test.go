package tfidf

import (
	"bytes"
	"encoding/binary"

	"github.com/zeebo/xxh3"

	"skillrouter/tfidf/text"
)

// SearchExhaustive answers like Search, but scores every document.
func (ix *Index) SearchExhaustive(q Query) Result { return ix.search(q, false) }

// Segments returns how many segments there are, and how many documents, dead ones too, each holds.
func (ix *Index) Segments() (sizes []int) {
	for _, s := range ix.view.Load().segs {
		sizes = append(sizes, s.docs())
	}
	return sizes
}

// TFClass returns the class of a frequency and what the class stands for.
func TFClass(tf uint32) (class uint32, stands float64) { return tfClass(tf), classTF(tfClass(tf)) }

// LengthClass returns the class of a length and what the class stands for.
func LengthClass(length uint32) (class uint32, stands float64) {
	c := uint32(lengthClass(length))
	return c, classLength(c)
}

// FormatOf returns a hash of what the columns of the index's segments hold.
func FormatOf(ix *Index) uint64 {
	h := xxh3.New()
	for _, s := range ix.Capture().segments() {
		for _, c := range s.columns() {
			_, _ = h.WriteString(c.name)
			_, _ = h.Write(c.bytes())
		}
	}
	return h.Sum64()
}

// The versions in a snapshot's head.
const (
	SnapshotFormat   = snapshotFormat
	SnapshotAnalysis = text.Version
)

// Borders returns where the columns of a snapshot start, by name, and where the last ends.
func Borders(b []byte) (names []string, at []int) {
	l := layoutOf(b)
	for i := range l.sections {
		names = append(names, columnName(l, i))
		at = append(at, int(l.sections[i].Offset))
	}
	return append(names, "end"), append(at, len(b))
}

func columnName(l *layout, i int) string {
	segment, tables := new(segment).columns(), new(tables).columns()
	if n := len(l.segments) * len(segment); i >= n {
		return tables[i-n].name
	}
	return segment[i%len(segment)].name
}

func layoutOf(b []byte) *layout {
	l := &layout{}
	if _, err := binary.Decode(b, binary.LittleEndian, &l.head); err != nil {
		panic(err)
	}
	r := bytes.NewReader(b[binary.Size(l.head):])
	l.segments, l.sections = make([]segmentHead, l.head.Segments), make([]section, l.head.Sections)
	l.chunks, l.mark = make([]uint64, l.head.Chunks), make([]byte, l.head.Mark)
	for _, part := range []any{l.segments, l.sections, l.chunks, l.mark} {
		if err := binary.Read(r, binary.LittleEndian, part); err != nil {
			panic(err)
		}
	}
	return l
}

// Resealed returns a snapshot with the checksums that its bytes call for, and
// its own sizes, if its head is whole enough.
func Resealed(b []byte) []byte {
	b = bytes.Clone(b)
	if len(b) < binary.Size(snapshotHead{}) {
		return b
	}
	var h snapshotHead
	if _, err := binary.Decode(b, binary.LittleEndian, &h); err != nil {
		panic(err)
	}
	l := layout{head: h}
	if h.Head != l.size() || h.Head > uint64(len(b)) || uint64(h.Chunks) != chunksOf(uint64(len(b))-h.Head) {
		return b
	}
	at := binary.Size(h) + int(h.Segments)*binary.Size(segmentHead{}) + int(h.Sections)*binary.Size(section{})
	for i := range int(h.Chunks) {
		from := int(h.Head) + i*snapshotChunk
		binary.LittleEndian.PutUint64(b[at+8*i:], xxh3.Hash(b[from:min(from+snapshotChunk, len(b))]))
	}
	binary.LittleEndian.PutUint64(b[h.Head-8:], xxh3.Hash(b[:h.Head-8]))
	return b
}
